/** @needs fish zsh */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { inProcess, TestShell } from '../cli.fixture.ts';

/** Prints the words that a shell offers for the last word of a line. */
const ASK: Readonly<Record<string, (file: string, line: readonly string[]) => string>> = {
  bash: (file, line) =>
    `source ${file}; COMP_WORDS=(countersign ${line.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${line.length}; _countersign; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (file, line) =>
    `compdef() { : }; compadd() { shift; print -l -- $@ }; _files() { : }; source ${file}; words=(countersign ${line.map((word) => `'${word}'`).join(' ')}); CURRENT=${line.length + 1}; _countersign`,
  fish: (file, line) => `source ${file}; complete -C 'countersign ${line.join(' ')}'`,
};

async function offered(shell: string, ...line: readonly string[]): Promise<readonly string[]> {
  const { stdout: script } = await inProcess(new TestShell(), 'completion', shell);
  const file = join(await temporaryFolder(), 'completion');
  await writeFile(file, script);
  const ask = ASK[shell]?.(file, line) ?? '';
  const options = shell === 'zsh' ? ['-f', '-c', ask] : ['-c', ask];
  const { stdout } = await promisify(execFile)(shell, options);
  return stdout.split('\n').filter((word) => word !== '');
}

test.each(['bash', 'zsh', 'fish'])(
  '%s completes commands, their second words and options',
  async (shell) => {
    expect(await offered(shell, '')).toEqual(expect.arrayContaining(['apply', 'client', 'user']));
    const second = await offered(shell, 'directory', '');
    expect(second).toEqual(expect.arrayContaining(['export', 'import']));
    expect(second).not.toContain('apply');
    const options = await offered(shell, 'apply', 'FILE', '--');
    expect(options).toEqual(expect.arrayContaining(['--prune', '--dry-run']));
    expect(options).not.toContain('--scope');
  },
);

test('an unsupported shell is refused', async () => {
  const { code, stderr } = await inProcess(new TestShell(), 'completion', 'constructor');
  expect([code, stderr]).toEqual([2, expect.stringContaining('one of bash, zsh, fish')]);
});
