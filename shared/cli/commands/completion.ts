import { type Command, UsageError } from '../arguments/command.ts';
import { optionsOf } from '../arguments/help.ts';

/** A word that may come next, and the words before it. */
interface Next {
  readonly before: string;
  readonly word: string;
}

/** Returns the words of all commands, by the words before them. */
function words(commands: readonly Command[]): readonly Next[] {
  const all = new Map<string, Next>();
  const add = (before: string, word: string) => all.set(`${before} ${word}`, { before, word });
  for (const command of commands) {
    const parts = command.name.split(' ');
    for (const [at, word] of parts.entries()) add(parts.slice(0, at).join(' '), word);
    for (const option of Object.keys(optionsOf(command))) add(command.name, `--${option}`);
  }
  return [...all.values()];
}

/** Lines of a shell's `case`: the words that may come after others. */
function cases(commands: readonly Command[]): readonly string[] {
  const next = Map.groupBy(words(commands), ({ before }) => before);
  return [...next].map(
    ([before, all]) => `    '${before}') words='${all.map(({ word }) => word).join(' ')}' ;;`,
  );
}

/**
 * Returns a script for bash and similar shells. It matches the longest known beginning of the line, so that operands
 * and options do not matter.
 */
const bashLike = (commands: readonly Command[]) => [
  '_countersign_words() {',
  '  local words=""',
  '  case "$1" in',
  ...cases(commands),
  '  esac',
  '  printf "%s" "$words"',
  '}',
];

const SCRIPTS: Readonly<Record<string, (commands: readonly Command[]) => readonly string[]>> = {
  bash: (commands) => [
    ...bashLike(commands),
    '_countersign() {',
    '  local before="" found word at',
    '  found=$(_countersign_words "")',
    '  for ((at = 1; at < COMP_CWORD; at++)); do',
    '    word=${COMP_WORDS[at]}',
    '    if [[ " $found " == *" $word "* && $word != -* ]]; then',
    '      before="${before:+$before }$word"',
    '      found=$(_countersign_words "$before")',
    '    fi',
    '  done',
    '  COMPREPLY=($(compgen -W "$found" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _countersign countersign',
  ],
  zsh: (commands) => [
    '#compdef countersign',
    ...bashLike(commands),
    '_countersign() {',
    '  local before="" found word at',
    '  found=$(_countersign_words "")',
    '  for ((at = 2; at < CURRENT; at++)); do',
    '    word=${words[at]}',
    '    if [[ " $found " == *" $word "* && $word != -* ]]; then',
    '      before="${before:+$before }$word"',
    '      found=$(_countersign_words "$before")',
    '    fi',
    '  done',
    '  compadd -- ${=found}',
    '  _files',
    '}',
    'compdef _countersign countersign',
  ],
  fish: (commands) => [
    'function __countersign_before',
    "  string join ' ' -- (string match -v -- '-*' (commandline -opc)[2..-1])",
    'end',
    'function __countersign_is',
    '  test "$(__countersign_before)" = "$argv[1]"',
    'end',
    'function __countersign_begins',
    '  string match -q -- "$argv[1] *" "$(__countersign_before) "',
    'end',
    ...words(commands).map(({ before, word }) =>
      word.startsWith('--')
        ? `complete -c countersign -n "__countersign_begins '${before}'" -l ${word.slice(2)}`
        : `complete -c countersign -n "__countersign_is '${before}'" -f -a ${word}`,
    ),
  ],
};

const SHELLS = Object.keys(SCRIPTS);

/** The command `completion`. `commands` returns the table of all commands, which includes this command. */
export const completion = (commands: () => readonly Command[]): Command => ({
  name: 'completion',
  summary: 'print what a shell needs to complete commands and options: bash, zsh or fish',
  operands: ['SHELL'],
  details: [
    'bash: source <(countersign completion bash). fish: countersign completion fish | source.',
    'zsh: source <(countersign completion zsh), after compinit.',
  ],
  run: async ({ operands: [shell = ''] }) => {
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (script === undefined) throw new UsageError(`SHELL must be one of ${SHELLS.join(', ')}`);
    const lines = script(commands());
    return { json: { shell, script: lines.join('\n') }, lines };
  },
});
