import { describe, expect, test } from '@jest/globals';
import { inProcess, newData, TestShell } from './cli.fixture.ts';
import {
  type Command,
  Failure,
  type LongReport,
  type Report,
  type OutputSlice,
  UsageError,
} from './arguments/command.ts';
import { NoAnswer } from '#shared/client/send.ts';
import { ConfigError } from '#shared/base/mistake.ts';
import { Missing } from '#shared/operations/operation.ts';
import { said } from '#shared/refusals/operations.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { COMMANDS } from './commands.ts';
import { run } from './run.ts';

function saying(report: Report | LongReport): readonly Command[] {
  return [{ name: 'say', summary: 'says', run: async () => report }];
}

function failing(error: Error, more: Partial<Command> = {}): readonly Command[] {
  const fail = async () => {
    throw error;
  };
  return [{ name: 'say', summary: 'says', run: fail, ...more }];
}

/** The mistake is on the last line, except for advice. */
const mistakeIn = (stderr: string) =>
  stderr
    .trimEnd()
    .split('\n')
    .findLast((line) => !line.startsWith('Try: '));

test.each([
  ['ECONNREFUSED', 'it took too long (timeout)\nStart the server, or check the URL.\n'],
  ['ETIMEDOUT', 'it took too long (timeout)\n'],
])(
  'a server that does not answer, %s: exit code 1, with advice if it refused',
  async (code, told) => {
    const shell = new TestShell(await newData());
    const cause = Object.assign(new Error('failed'), { code });
    expect(await run(['say'], failing(new NoAnswer(said('network-time'), { cause })), shell)).toBe(
      1,
    );
    expect(shell.stderr).toBe(told);
  },
);

test.each([
  [{ repeatable: true as const }, 'silent\nRun the command again: it does what is missing.\n'],
  [{}, 'silent\n'],
])('a store that does not answer, %j: exit code 1 with advice', async (more, told) => {
  const commands = failing(new StoreUnavailable('silent'), more);
  const shell = new TestShell();
  expect([await run(['say'], commands, shell), shell.stderr]).toEqual([1, told]);
});

test('commands that revoke may be repeated', () => {
  const repeatable = COMMANDS.filter((command) => command.repeatable).map(({ name }) => name);
  const ending = ['client end', 'user disable', 'user end', 'user kerberos', 'user passwd'];
  expect(repeatable).toEqual(expect.arrayContaining(ending));
});

describe('help', () => {
  test.each([['help'], ['--help'], ['-h']])(
    '%s lists every command on standard output',
    async (arg) => {
      const { code, stdout, stderr } = await inProcess(new TestShell(), arg);
      expect([code, stderr]).toEqual([0, '']);
      for (const { name } of COMMANDS) expect(stdout).toMatch(`${name} `);
      expect(stdout.split('\n').filter((line) => line.length > 120)).toEqual([]);
    },
  );

  test.each(COMMANDS.map(({ name }) => [name]))('%s --help shows its usage', async (name) => {
    const { code, stdout } = await inProcess(new TestShell(), ...name.split(' '), '--help');
    expect(code).toBe(0);
    expect(stdout).toMatch(`Usage: countersign ${name}`);
    expect(stdout).toContain('--json');
    expect(
      Math.max(
        ...stdout
          .split('\n')
          .slice(1)
          .map((line) => line.length),
      ),
    ).toBeLessThan(121);
  });

  test.each([
    'client --help',
    'client -h',
    'client help',
    'help client',
    '--help client',
    '-h client',
    'help client --json',
    '--json help client',
    'help help client',
  ])('a group lists its commands only: %s', async (args) => {
    const { code, stdout, stderr } = await inProcess(new TestShell(), ...args.split(' '));
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('  client remove  ');
    expect(stdout).not.toMatch(/^ {2}(?!client )\S/m);
  });

  test.each(['help user key', 'user key --help'])(
    'a group within a group lists its commands only: %s',
    async (args) => {
      const { code, stdout } = await inProcess(new TestShell(), ...args.split(' '));
      expect(code).toBe(0);
      expect(stdout).toContain('  user key remove  ');
      expect(stdout).not.toMatch(/^ {2}(?!user key )\S/m);
    },
  );

  test.each([
    'client add --help',
    'client add -h',
    'help client add',
    '--help client add',
    'client --help add',
    'help client help add',
    'help client add --name x',
  ])('--help says what a command does: %s', async (args) => {
    const { code, stdout, stderr } = await inProcess(new TestShell(), ...args.split(' '));
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch('Usage: countersign client add ');
  });

  test.each(['help help', 'help --help', '--help --json'])(
    '%s lists every command',
    async (args) => {
      const { code, stdout } = await inProcess(new TestShell(), ...args.split(' '));
      expect(code).toBe(0);
      for (const { name } of COMMANDS) expect(stdout).toMatch(`${name} `);
    },
  );

  test.each([
    ['help qqq', 'There is no command "qqq".', 'Try: countersign --help'],
    ['cient --help', 'Did you mean "client"?', 'client remove'],
    ['help client ad', 'Did you mean "client add"?', 'client remove'],
    ['client ad --help', 'Did you mean "client add"?', 'client remove'],
  ])('help for an unknown command is wrong usage: %s', async (args, message, listed) => {
    const { code, stdout, stderr } = await inProcess(new TestShell(), ...args.split(' '));
    expect([code, stdout]).toEqual([2, '']);
    expect(mistakeIn(stderr)).toContain(message);
    expect(stderr).toContain(listed);
  });

  test.each(['client', 'user key'])(
    'a group without a command is not corrected: %s',
    async (args) => {
      const { code, stderr } = await inProcess(new TestShell(), ...args.split(' '));
      expect([code, mistakeIn(stderr)]).toEqual([2, `Which command of "${args}" do you mean?`]);
    },
  );
});

test.each([
  [['cient', 'list'], 'Did you mean "client list"?'],
  [['user', 'lst'], 'Did you mean "user list"?'],
  [['logn'], 'Did you mean "login"?'],
  [['clien'], 'Did you mean "client"?'],
])('a misspelled command gets the intended command as advice: %j', async (args, hint) => {
  const { code, stderr } = await inProcess(new TestShell(), ...args);
  expect([code, mistakeIn(stderr)]).toEqual([2, expect.stringContaining(hint)]);
});

describe('exit codes', () => {
  test('an unknown command prints two lines, without a long list', async () => {
    const { code, stderr } = await inProcess(new TestShell(), 'frobnicate');
    expect(code).toBe(2);
    expect(stderr).toBe('There is no command "frobnicate".\nTry: countersign --help\n');
  });

  test.each([[[]], [['client']], [['client', 'frobnicate']], [['clientadd']]])(
    '%j is wrong usage: exit code 2, on standard error',
    async (args) => {
      const { code, stdout, stderr } = await inProcess(new TestShell(), ...args);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('Usage: countersign COMMAND');
    },
  );

  test("a wrong option refers to the command's help: exit code 2", async () => {
    const { code, stderr } = await inProcess(new TestShell(), 'client', 'list', '--all');
    expect(code).toBe(2);
    expect(stderr).toMatch(/There is no option --all\nTry: countersign client list --help\n$/s);
  });

  test('an unusable configuration: exit code 1, with every mistake', async () => {
    const shell = new TestShell({ COUNTERSIGN_ISSUER: 'x', COUNTERSIGN_REDIS_URL: 'y' });
    const { code, stderr } = await inProcess(shell, 'client', 'list');
    expect(code).toBe(1);
    expect(stderr).toMatch(/COUNTERSIGN_REDIS_URL: .*\n.*COUNTERSIGN_ISSUER: /);
  });

  test('a failure, and a printed report of a failure, have exit code 1', async () => {
    const shell = new TestShell();
    expect(await run(['say'], failing(new Failure('cannot', 'twi\nce')), shell)).toBe(1);
    expect(shell.stderr).toBe('cannot\ntwi\\u000ace\n');
    expect(await run(['say'], saying({ json: 1, lines: ['bad'], failed: true }), shell)).toBe(1);
    expect(shell.stdout).toBe('bad\n');
  });
});

describe('errors with --json', () => {
  const told = async (error: Error) => {
    const shell = new TestShell();
    const code = await run(['say', '--json'], failing(error, { repeatable: true }), shell);
    expect(shell.stderr).toMatch(/^[ -~]+\n$/);
    return [code, JSON.parse(shell.stderr)];
  };
  const mistakes = [{ path: 'issuer', message: 'is no URL' }];

  test.each([
    ['usage', 2, new UsageError('no\nsuch option'), {}],
    ['configuration', 1, new ConfigError(mistakes), { mistakes }],
    ['store-unavailable', 1, new StoreUnavailable('silent'), {}],
    ['failed', 1, new Failure('cannot', 'twice'), {}],
    ['no-client', 1, new Missing(said('no-client', { client: 'x' })), { values: { client: 'x' } }],
  ])('%s has exit code %d, in one line on standard error', async (code, exit, error, more) => {
    expect(await told(error)).toEqual([exit, { code, message: error.message, ...more }]);
  });

  test("a mistake in an option has the operation's error code, and names the option", async () => {
    const shell = new TestShell(await newData());
    const { code, stderr } = await inProcess(shell, 'client', 'list', '--limit', '0', '--json');
    expect([code, JSON.parse(stderr)]).toEqual([2, expect.objectContaining({ code: 'usage' })]);
    const added = await inProcess(shell, 'user', 'set', 'x', '--email', 'x', '--json');
    expect([added.code, JSON.parse(added.stderr)]).toEqual([
      2,
      { code: 'mail-address', values: {}, message: expect.stringMatching(/^--email must be/) },
    ]);
  });
});

describe('output of commands', () => {
  const hostile = 'x\u001b]0;owned\u0007\ny';

  test('lines and JSON contain no control characters', async () => {
    const shell = new TestShell();
    const commands = saying({ json: { name: hostile }, lines: [hostile] });
    await run(['say'], commands, shell);
    expect(shell.stdout).toBe(String.raw`x\u001b]0;owned\u0007\u000ay` + '\n');
    shell.stdout = '';
    await run(['say', '--json'], commands, shell);
    expect(JSON.parse(shell.stdout)).toEqual({ name: hostile });
    expect(shell.stdout).toMatch(/^[ -~]+\n$/);
  });

  test('each slice is printed before the next is fetched, and JSON is one array on one line', async () => {
    const shell = new TestShell();
    const before: string[] = [];
    async function* inSlices(slices: readonly OutputSlice[]) {
      for (const slice of slices) {
        yield slice;
        before.push(shell.stdout);
      }
    }
    const say = async (slices: readonly OutputSlice[], ...args: readonly string[]) => {
      shell.stdout = '';
      before.length = 0;
      await run(['say', ...args], saying({ slices: inSlices(slices) }), shell);
      return shell.stdout;
    };
    const two = [
      { json: [1, { name: hostile }], lines: ['1', hostile] },
      { json: ['c'], lines: ['c'] },
    ];
    const escaped = String.raw`x\u001b]0;owned\u0007\u000ay`;
    expect(await say(two)).toBe(`1\n${escaped}\nc\n`);
    expect(before).toEqual([`1\n${escaped}\n`, `1\n${escaped}\nc\n`]);
    expect(JSON.parse(await say(two, '--json'))).toEqual([1, { name: hostile }, 'c']);
    expect(shell.stdout).toMatch(/^[ -~]+\n$/);
    expect(await say([], '--json')).toBe('[]\n');
    expect(await say([{ json: [], lines: ['Nothing.'] }], '--json')).toBe('[]\n');
  });

  test('a failure between two slices: exit code 1, after the printed slices', async () => {
    const shell = new TestShell();
    async function* slices() {
      yield { json: [1], lines: ['1'] };
      throw new Failure('no more');
    }
    expect(await run(['say'], saying({ slices: slices() }), shell)).toBe(1);
    expect([shell.stdout, shell.stderr]).toEqual(['1\n', 'no more\n']);
  });

  test('content is passed to a program byte by byte, and to a terminal without control characters', async () => {
    const shell = new TestShell();
    const commands = saying({ json: null, lines: [], content: Buffer.from(hostile) });
    await run(['say'], commands, shell);
    expect(shell.stdout).toBe(hostile);
    shell.stdout = '';
    shell.terminal = true;
    await run(['say'], commands, shell);
    expect(shell.stdout).toBe(String.raw`x\u001b]0;owned\u0007` + '\ny');
  });
});
