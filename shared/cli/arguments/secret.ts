import { Failure, type Input, type Option, type Shell, UsageError } from './command.ts';

/** The options with which a user passes a client's secret. */
export const SECRET_OPTIONS: Readonly<Record<string, Option>> = {
  secret: {
    value: 'SECRET',
    help: 'the secret of the client (other users of the machine can see it)',
  },
  'secret-stdin': { help: 'read its secret from standard input' },
};

/** Reads the secret from an option, standard input or `COUNTERSIGN_CLIENT_SECRET`. */
export async function readSecret(input: Input, shell: Shell): Promise<string> {
  const option = input.text('secret');
  if (option !== undefined && input.flag('secret-stdin')) {
    throw new UsageError('give --secret or --secret-stdin, not both');
  }
  const secret = input.flag('secret-stdin')
    ? (await shell.readStdin()).toString().trim()
    : (option ?? shell.env['COUNTERSIGN_CLIENT_SECRET']);
  if (!secret) {
    throw new UsageError('no secret: use --secret, --secret-stdin or COUNTERSIGN_CLIENT_SECRET');
  }
  return secret;
}

/**
 * The source of a person's password: a line on standard input. Without it the command generates a password, and shows
 * it only this once.
 */
export const PASSWORD_SOURCE = {
  members: ['password'],
  options: {
    'password-stdin': {
      help: 'read the password, one line, from standard input; default: one is made and printed',
    },
  },
  async read(input: Input, shell: Pick<Shell, 'readStdin'>) {
    if (!input.flag('password-stdin')) return { given: {} };
    const bytes = await shell.readStdin();
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      return { given: { password: text.replace(/\r?\n$/, '') } };
    } catch {
      throw new Failure('the password on standard input is not UTF-8');
    }
  },
};
