package redact

import (
	"strings"
	"testing"
)

// planted maps texts with credentials to the parts that must not remain. The text of an error is
// quoted in a log line, maybe more than once.
var planted = map[string][]string{
	// Keys, by themselves or assigned to a name.
	`"key": "ce04f7d7f8bcd8b464ce4e35e931dcef35824a8b7064d7bae532dca940da718a"`:                       {"ce04f7d7"},
	`SECRET_KEY_BASE=5c8136648f074a7a6a25f96e5ba9ac0dace1095f9934a16bbe7a5728055cee55`:                {"5c813664"},
	`private key 6332ae832dcc05831aa444482b302b7a6a315d5f32e79d68a6c6500508309194 refused`:            {"6332ae83"},
	`api key 28ea055ceb4f3b5c refused`:                                                                {"28ea055c"},
	`GET https://h/x?key=28ea055ceb4f3b5d&y=1`:                                                        {"28ea055c"},
	`{"name":"master1","key":"trust-blue-77498"}`:                                                     {"77498"},
	`sudo: password for bob: 28ea055ceb4f3b5e`:                                                        {"28ea055c"},
	`encryption key 28ea055ceb4f, rndc key 28ea055ceb40, --key 28ea055ceb41`:                          {"28ea055c"},
	`creds=28ea055ceb4f3b5c salt: 28ea055ceb4f3b5d HMAC 28ea055ceb4f3b5e`:                             {"28ea055c"},
	`license: 28ea055ceb4f3b5c, community 28ea055ceb4f3b5d`:                                           {"28ea055c"},
	`kubeadm join --certificate-key 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a0e`: {"9f86d081"},
	// Tails of passwords.
	`https://bob:Winter/77081@h/x`:                                 {"Winter", "77081"},
	`postgres://bob:Win@ter/77141@h:5432/d`:                        {"ter/", "77141"},
	`password=Winter,77261 refused`:                                {"77261"},
	`mount -o username=bob,password=Winter;77001 //h/s`:            {"77001"},
	`password=Winter)77002 password=Winter]77003`:                  {"77002", "77003"},
	`password=Winter}77004 password=Winter>77006 pwd=Winter<77005`: {"77004", "77005", "77006"},
	`password=Winter{77007 password=Winter\77008 password=W&77009`: {"77007", "77008", "77009"},
	`password="Winter\"77041" refused`:                             {"77041"},
	`curl -ubob:Winter77161 x`:                                     {"77161"},
	`curl -u "bob:Winter 77151" x`:                                 {"77151"},
	`mysql -p"Winter 77152" x`:                                     {"Winter", "77152"},
	// Digits only.
	`wrong password 90817263`:                      {"90817263"},
	`token: 90817270`:                              {"90817270"},
	`"secret": 90817271`:                           {"90817271"},
	`X-Vault-Token: 4081726399`:                    {"4081726399"},
	`mysql -u root -p90817276`:                     {"90817276"},
	`REDIS_AUTH=4081726398`:                        {"4081726398"},
	`PIN 90817268, otp=90817269`:                   {"90817268", "90817269"},
	`session=90817269 passcode 908172`:             {"90817269", "908172"},
	`client-secret: trust-blue-77268`:              {"77268"},
	`password 1588-0385-0750-7688, api key 269593`: {"1588", "7688", "269593"},
	// Names and places.
	`bindpw=trust-blue-7777`:                                                          {"7777"},
	`rootpw: trust-blue-7778`:                                                         {"7778"},
	`userPassword:: trust-blue-7779`:                                                  {"7779"},
	`CREATE USER bob IDENTIFIED BY 'trust-blue-7815'`:                                 {"7815"},
	`PASSWORD set to trust-blue-7763`:                                                 {"7763"},
	`- name: DB_PASSWORD\n  value: trust-blue-7756`:                                   {"7756"},
	`password("trust-blue-7835") setPassword(trust-1)`:                                {"7835", "trust"},
	`WithToken("trust-blue-7836")`:                                                    {"7836"},
	`ldapsearch -w 77267726 ipmitool -P 77297729`:                                     {"77267726", "77297729"},
	`password "welcome" refused, --password master`:                                   {"welcome", "master"},
	`DB_PASSWORD -> 90817340, password == 90817354, password will be trust-blue-7764`: {"90817340", "90817354", "7764"},
	`community string 90817298, seed=trust-blue-7790, password used: trust-blue-7765`: {"90817298", "7790", "7765"},
	`vault login trust-blue-7837`:                                                     {"7837"},
	`create secret --from-literal=a=trust-blue-7838`:                                  {"7838"},
	// Codes, session tickets, and connection strings.
	`access 90817000, access code 90817001, code 90817002, "access":"blue-9003"`:             {"90817", "9003"},
	`recovery codes: 90817001 90817002, mfa_code=90817003, PIN code 90817004`:                {"90817"},
	`nonce=90817001&code_verifier=blue-9002 JSESSIONID=90817003 SAMLResponse=blue-9004`:      {"90817", "9002", "9004"},
	`connectionString: Server=h;Database=d;blue-9001`:                                        {"9001"},
	`AZURE_STORAGE_CONNECTION_STRING=Default=https;Name=blue-9001 ConnectionStrings__X=b-92`: {"9001", "b-92"},
	`Unseal Key 1: 90817001; auth bob:90817002; user=root:blue-9003`:                         {"90817", "9003"},
	// Logins without a URL scheme.
	`bob:blue-9001@h, http_proxy=bob:90817002@proxy:3128, sqlplus bob/blue-9003@orcl`: {"9001", "90817", "9003"},
	`imap bob@x.test:90817001 login failed for bob:90817002`:                          {"90817"},
	// Options and pipes.
	`-p 90817275`: {"90817275"},
	`mysql "-p90817276" && args ["--password","90817277","-p","blue-9008"]`:                                          {"90817", "9008"},
	`net use x: \\h\s /user:d\bob blue-9001`:                                                                         {"9001"},
	`net use \\h\s blue-9001 /persistent:yes`:                                                                        {"9001"},
	`smbclient -U bob%blue-9001 //h/s -Ubob%90817002, user=bob%90817003`:                                             {"9001", "90817"},
	`snmpwalk -A 90817001 -X blue-9002 h; snmpget -c blue-9003; unzip -P 90817004 x`:                                 {"90817", "9002", "9003"},
	`echo 90817001 | passwd --stdin bob; echo 'bob:blue-9002' | chpasswd; kinit <<< b-90s3`:                          {"90817", "9002", "90s3"},
	`chpasswd: {list: "root:90817001"}; htpasswd -b f bob b-9002; openssl enc -k b-9003`:                             {"90817", "9002", "9003"},
	`auth=('bob', '90817001') credentials: bob / 90817002 login bob / b-9003x admin:90817004 use 90817005 to log in`: {"90817", "9003x"},
	`enable secret 5 b-9001 username bob password 7 90817002 iscsiadm -n x.password -v 90817003 {SSHA}xb90817004`:    {"9001", "90817"},
	`password (old): 90817001 password[0]=90817002 passwords: [90817003, b-9004] tokens=["90817005","b-9006"]`:       {"90817", "9004", "9006"},
	`password={ 90817001 } password=${X:-90817002} password=$(echo 90817003) | password | 90817004 |`:                {"90817"},
	`<entry key="password">90817001</entry> pass word: 90817002 pswd=90817003 ticket=b-9004x`:                        {"90817", "9004"},
	`https://h/api/key/90817001 https://h/token/90817002/x https%3A%2F%2Fbob%3A90817003%40h PIN: 4711`:               {"90817", "4711"},
	// Separators, and values on the next line.
	`password/90817001 pwd/blue-9002 password|90817003 password,90817004 password'b-9005'`: {"90817", "9002", "9005"},
	`password:\n  blue-9001 token: >-\n  blue-9002\nsecret:\n- 90817003`:                   {"9001", "9002", "90817"},
	"password:\n  blue-9001\n\"password\":\n\t\"blue-9002\"\npassword: |\n  90817003":      {"9001", "9002", "90817"},
	`<Password encrypted="no">90817001</Password> password "blue 9002" PASSWORD\t90817003`: {"90817", "9002"},
	`log in with 90817001 as the password; password for bob on h is 90817002`:              {"90817"},
	`contraseña: blue-9001 Kennwort: blue-9002 Digest nonce="90817003", opaque="b-9004"`:   {"9001", "9002", "90817", "9004"},
}

// TestPlanted: no part of a credential remains.
func TestPlanted(t *testing.T) {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for text, marks := range planted {
		for range 3 {
			got := New(nil).withoutSecrets(text)
			for _, m := range marks {
				if strings.Contains(got, m) {
					t.Errorf("%q stays in %q", m, got)
				}
			}
			text = "err=\"" + escape.Replace(text) + "\""
		}
	}
}

// TestNoSecret: what only resembles a credential is kept.
func TestNoSecret(t *testing.T) {
	for _, keep := range []string{
		`key "registry" is missing, taint key node-role, label key tier2-x`, `configmap key app2.conf, map key web2-x, pod key default/web-7d9f8b6c5-x2x4z`,
		`volumeMap key "kubernetes.io/csi/x^vol-0abc12"`, `"key":"node.kubernetes.io/not-ready"`, `key="0d1cfa64-0c0e-4a0c-9b1e-2a8a2f7b1111"`,
		`Started Session 171234 of user root.`, `docker-pullable://reg:5000/a/b@sha256:0`, `http://h:8080/x?mail=a@b`, `https://h/x/a:b@c`,
		`exit code 137, exit code: 3221225786, status code 500123, "code":404, code = DeadlineExceeded, error code 0x80070005, terminated with code 3221225477`,
		`access denied, access modes ReadWriteOnce, password/keyring of the kubelet, /etc/passwd/90817001, nfs/server1.x@CORP.TEST, getty@tty1.service, user@1000.service`,
		`postgres:14.2-alpine, kubernetes.io~secret/default-token-x2x4z, https://h/api/v1/namespaces/x/secrets, user.slice/user-1000.slice, PIN 3, ticket 12, sort keys [a b c], admin:admin`,
		`repo/app:v1@sha256:0, k8s.io/client-go@v0.28.0, password: the next line`, "password:\n  policy: strict",
		`container identified by web1`, `"kube-api-auth-w7646_cattle-system(e9974ade-32e6-4776-8fe9-cd4d44a48d66)"`, `getToken(0xc42069ea20, 0x1)`, `ssh -p 2222 x`, `the pin is 17`, `{Name:x,Password:,User:y}`,
	} {
		if got := New(nil).withoutSecrets(keep); got != keep {
			t.Errorf("%q became %q", keep, got)
		}
	}
	for text, want := range map[string]string{
		`a password -`:                        `a password -`,
		`(password=Winter), next`:             `(password=[secret]), next`,
		`{Password:Winter,User:bob}`:          `{Password:[secret],User:bob}`,
		`/x?password=Winter&user=bob`:         `/x?password=[secret]&user=bob`,
		`-o password=Winter,vers=3.0 //h/s`:   `-o password=[secret],vers=3.0 //h/s`,
		`<password>Winter</password> x`:       `<password>[secret]</password> x`,
		`password=\"Winter\", user=\"bob\"`:   `password=\"[secret]\", user=\"bob\"`,
		`err="password=Winter\nnext" pod="x"`: `err="password=[secret]\nnext" pod="x"`,
	} {
		if got := New(nil).withoutSecrets(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
