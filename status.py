import subprocess,json,sys,collections,tempfile,os
h='/tmp/wt/me/h/'
for n in ['v1.15.5-01-healthy-v5','v1.15.5-19-exec-probe-hang','v1.15.5-21-apiserver-down','v1.28.0-01-healthy','v1.28.0-07-crashloop','v1.28.0-08-cni-error','v1.33.13-01-healthy','v1.36.3-01-healthy','v1.28.0-10-evented']:
    L=open(h+n+'.log').read().splitlines(True)
    for b in sys.argv[1:]:
        c=collections.Counter(); un=0;tot=0
        for k in range(0,12):
            i=len(L)*k//13
            open('/tmp/wt/me/c2.log','w').write(''.join(L[i:]))
            r=json.loads(subprocess.run([b,'analyze','--quiet','-o','json','--year','2026','--tz','UTC','/tmp/wt/me/c2.log'],capture_output=True).stdout)
            t=json.loads(subprocess.run([b,'timeline','--quiet','-o','json','--year','2026','--tz','UTC','/tmp/wt/me/c2.log'],capture_output=True).stdout)
            from datetime import datetime as D
            f=lambda s:D.fromisoformat(s[:26]+'+00:00').timestamp()
            for x in t['nodes']:
                for y in x.get('health') or []:
                    d=f(y['to'])-f(y['from']); tot+=d; un+=d*(y['state']=='healthy')
            for x in r['nodes']: c[x['status']]+=1
        print(n,os.path.basename(b),dict(c),'healthy %.0f of %.0f s'%(un,tot))
