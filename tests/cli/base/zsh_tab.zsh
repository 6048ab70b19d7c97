# zsh_tab.zsh DIRECTORY LINE: prints LINE as completed by Tab, with the completions in DIRECTORY.
# The inner shell fills its line and completes it as soon as its editor has started; no text is typed,
# because typed text could arrive too early.
zmodload zsh/zpty
export ZDOTDIR=$1 TYPED=$2
cat >$ZDOTDIR/.zshrc <<'RC'
PS1= fpath=($ZDOTDIR $fpath)
autoload -U compinit && compinit -D -u
tab_and_show() {
    BUFFER=$TYPED CURSOR=${#TYPED}
    zle complete-word
    print -r -- "<<<$BUFFER>>>"
    exit
}
zle -N zle-line-init tab_and_show
RC
zpty shell "zsh -d -i"
local text= piece
while zpty -r shell piece; do
    text+=$piece
done
zpty -d shell
[[ $text == *'<<<'*'>>>'* ]] || { print -r -- "no line in: ${(V)text}"; exit 1; }
text=${text##*<<<}
print -r -- "${text%%>>>*}"
