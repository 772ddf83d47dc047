import { newPassword } from '#shared/people/new-password.ts';
import { Failure, type Input, type Option, type Shell, UsageError } from './command.ts';

/** Ways to give a client's secret. */
export const SECRET_OPTIONS: Readonly<Record<string, Option>> = {
  secret: { value: 'SECRET', help: 'its secret (other users of the machine can see it)' },
  'secret-stdin': { help: 'read its secret from standard input' },
};

/** The secret from an option, standard input or `COUNTERSIGN_CLIENT_SECRET`. */
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

/** The way to give a person's password. */
export const PASSWORD_OPTION: Readonly<Record<string, Option>> = {
  'password-stdin': {
    help: 'read the password, one line, from standard input; default: one is made and printed',
  },
};

/** The line on standard input or a password that was made, which is to be shown, and only now. */
export async function readPassword(
  input: Input,
  shell: Shell,
): Promise<{ password: string; made?: { password: string } }> {
  if (!input.flag('password-stdin')) {
    const password = newPassword(shell.random);
    return { password, made: { password } };
  }
  const bytes = await shell.readStdin();
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { password: text.replace(/\r?\n$/, '') };
  } catch {
    throw new Failure('the password on standard input is not UTF-8');
  }
}
