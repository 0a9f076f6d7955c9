package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// completions are the completion scripts. Each asks the program for candidates (see complete.go)
// and falls back to file names. bash splits words at = and :, so its script joins them again.
var completions = []struct{ shell, script string }{
	{"bash", `# plegforensics completion bash > /etc/bash_completion.d/plegforensics
_plegforensics() {
  local words=() i w n line cur about=() wide=0
  for ((i = 1; i <= COMP_CWORD; i++)); do
    w=${COMP_WORDS[i]} n=${#words[@]}
    if ((n)) && { [[ $w == [=:] ]] || [[ ${words[n-1]} == *[=:] && ${COMP_WORDS[i-1]} == [=:] ]]; }; then
      words[n-1]+=$w
    else
      words+=("$w")
    fi
  done
  n=${#words[@]}
  ((n)) || words=("") n=1
  cur=${words[n-1]}
  COMPREPLY=()
  while IFS= read -r line; do
    about+=("${line#*$'\t'}")
    line=${line%%$'\t'*}
    # what stands before the last = or : is on the line already
    [[ $cur == *[=:]* ]] && line=${line#"${cur%"${cur##*[=:]}"}"}
    COMPREPLY+=("$line")
    ((${#line} > wide)) && wide=${#line}
  done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
  if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[=:/] ]]; then
    compopt -o nospace 2>/dev/null
  fi
  if ((COMP_TYPE == 63 && ${#COMPREPLY[@]} > 1)); then # a list is shown and no word put in
    for i in "${!COMPREPLY[@]}"; do
      [[ ${about[i]} ]] || continue
      printf -v line '%-*s  %s' "$wide" "${COMPREPLY[i]}" "${about[i]}"
      COMPREPLY[i]=${line:0:${COLUMNS:-80}-2}
    done
  fi
  return 0
}
complete -o bashdefault -o default -F _plegforensics plegforensics
`},
	{"zsh", `#compdef plegforensics
# plegforensics completion zsh > "${fpath[1]}/_plegforensics"
_plegforensics() {
  local line word
  local -a found open told more lines
  integer wide=0
  lines=("${(@f)$(${words[1]} __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "${lines[@]}"; do
    word=${line%%$'\t'*}
    (( $#word > wide )) && wide=$#word
  done
  for line in "${lines[@]}"; do
    word=${line%%$'\t'*}
    [[ -n $word ]] || continue
    line="${(r:wide:)word}  ${line#*$'\t'}"
    line=${line[1,COLUMNS-2]}
    if [[ $word == *[=:/] ]]; then open+=("$word") more+=("$line"); else found+=("$word") told+=("$line"); fi
  done
  if (( $#found + $#open )); then
    (( $#found )) && compadd -l -d told -- "${found[@]}"
    (( $#open )) && compadd -l -S '' -d more -- "${open[@]}"
    return 0
  fi
  compset -P '*='
  _files
}
# From fpath this file is the body of the function; sourced, it only defines it.
if [[ "${funcstack[1]}" == _plegforensics ]]; then
  _plegforensics "$@"
else
  compdef _plegforensics plegforensics
fi
`},
	{"fish", `# plegforensics completion fish > ~/.config/fish/completions/plegforensics.fish
function __plegforensics_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found ($words[1] __complete $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        set -l word (commandline -ct)
        if string match -q -- '*=*' $word
            set -l head (string replace -r '=.*' '=' -- $word)
            __fish_complete_path (string replace -r '^[^=]*=' '' -- $word) | string replace -r '^' $head
        else
            __fish_complete_path $word
        end
    end
end
complete -c plegforensics -f -a '(__plegforensics_complete)'
`},
	{"powershell", `# plegforensics completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'plegforensics' -ScriptBlock {
  param($word, $ast, $position)
  $given = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($word) { $given = @($given | Select-Object -SkipLast 1) }
  & 'plegforensics' __complete @given "$word" 2>$null | ForEach-Object {
    $name, $about = $_ -split [char]9, 2
    if (-not $about) { $about = $name }
    [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', $about)
  }
}
`},
}

// shells returns the shells that have a script.
func shells() []string {
	var out []string
	for _, x := range completions {
		out = append(out, x.shell)
	}
	return out
}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:        "completion",
		Usage:       "print the completion script of a shell: " + strings.Join(shells(), ", "),
		ArgsUsage:   "SHELL",
		Description: "The first line of each script says where to put it.",
		Action: func(c *cli.Context) error {
			shell := c.Args().First()
			if shell == "" {
				return usage("one of "+strings.Join(shells(), ", "), "completion needs the name of a shell")
			}
			for _, x := range completions {
				if x.shell == shell {
					_, err := io.WriteString(c.App.Writer, x.script)
					return err
				}
			}
			return unknown("shell", shell, shells())
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
			_, err = fmt.Fprintln(c.App.Writer, manForm.Replace(strings.TrimSpace(page))+manExits())
			return err
		},
	}
}

// manForm corrects what the library writes about the forms of a call, and removes defaults that are
// empty or 0.
var manForm = strings.NewReplacer(
	"plegforensics [GLOBAL OPTIONS] command [COMMAND OPTIONS] [ARGUMENTS...]", "plegforensics COMMAND [FLAGS] [ARGUMENTS]\nplegforensics PATH...",
	" (default: 0)", "", " (default: 0s)", "", `=""`, "")

// manExits returns the exit statuses and examples in roff.
func manExits() string {
	var b strings.Builder
	b.WriteString("\n.SH EXIT STATUS\n")
	for _, e := range exitStatuses {
		fmt.Fprintf(&b, ".TP\n\\fB%d\\fP\n%s\n", e.code, manText(e.means))
	}
	b.WriteString(".SH EXAMPLES\n")
	for _, e := range examples {
		fmt.Fprintf(&b, ".TP\n%s\n%s\n", manText(e.line), manText(e.about))
	}
	return strings.TrimRight(b.String(), "\n")
}

func manText(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
