package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// completions are the scripts that ask the program itself what may follow, so
// that they never fall behind it. %[1]s is the name of the program.
var completions = []struct{ shell, script string }{
	{"bash", `# plegforensics completion bash > /etc/bash_completion.d/plegforensics
_plegforensics() {
  local cur="${COMP_WORDS[COMP_CWORD]}" words
  COMPREPLY=()
  if [[ "$cur" == -* ]]; then
    words=$("${COMP_WORDS[@]:0:COMP_CWORD}" "$cur" --generate-bash-completion 2>/dev/null)
  else
    words=$("${COMP_WORDS[@]:0:COMP_CWORD}" --generate-bash-completion 2>/dev/null)
  fi
  mapfile -t COMPREPLY < <(compgen -W "${words}" -- "$cur")
}
complete -o bashdefault -o default -F _plegforensics %[1]s
`},
	{"zsh", `#compdef %[1]s
# plegforensics completion zsh > "${fpath[1]}/_plegforensics"
_plegforensics() {
  local cur=${words[CURRENT]}
  local -a options
  if [[ "$cur" == -* ]]; then
    options=("${(@f)$(${words[1,CURRENT-1]} "$cur" --generate-bash-completion 2>/dev/null)}")
  else
    options=("${(@f)$(${words[1,CURRENT-1]} --generate-bash-completion 2>/dev/null)}")
  fi
  [[ -n "${options[1]}" ]] && compadd -- "${options[@]}"
  _files
}
# From fpath this file is the body of the function; sourced, it only defines it.
if [[ "${funcstack[1]}" == _plegforensics ]]; then
  _plegforensics "$@"
else
  compdef _plegforensics %[1]s
fi
`},
	{"powershell", `# plegforensics completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName '%[1]s' -ScriptBlock {
  param($word, $ast, $position)
  $given = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($word -and -not $word.StartsWith('-')) { $given = @($given | Select-Object -SkipLast 1) }
  & '%[1]s' @given --generate-bash-completion 2>$null |
    Where-Object { $_ -like "$word*" } |
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
}
`},
}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the completion script of a shell: bash, zsh, fish, powershell",
		ArgsUsage: "SHELL",
		Action: func(c *cli.Context) error {
			known := []string{"fish"}
			shell := c.Args().First()
			for _, x := range completions {
				if x.shell == shell {
					_, err := fmt.Fprintf(c.App.Writer, x.script, "plegforensics")
					return err
				}
				known = append(known, x.shell)
			}
			if shell != "fish" {
				return unknown("shell", shell, known)
			}
			script, err := c.App.ToFishCompletion()
			if err == nil {
				_, err = fmt.Fprint(c.App.Writer, script)
			}
			return err
		},
	}
}

func manCommand() *cli.Command {
	return &cli.Command{
		Name:      "man",
		Usage:     "print the manual page: plegforensics man | man -l -",
		ArgsUsage: " ",
		Action: func(c *cli.Context) error {
			page, err := c.App.ToManWithSection(1)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.App.Writer, strings.TrimSpace(page))
			return err
		},
	}
}

// completing reports whether a shell asks what may follow: then the order of
// the words must stay as it is.
func completing(args []string) bool {
	return len(args) > 1 && args[len(args)-1] == "--generate-bash-completion"
}
