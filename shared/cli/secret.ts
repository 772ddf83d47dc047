import { createHash } from 'node:crypto';
import type { Random } from '#shared/random.ts';
import type { ClientRecord } from '#shared/stores/clients.ts';
import { type Input, type Option, type Shell, UsageError } from './command.ts';

/** A new secret of 256 bits, to be shown once, and the hash that is kept. */
export function newSecret(
  random: Random,
): Required<Pick<ClientRecord, 'secret_hash'>> & { secret: string } {
  const secret = random(32).toString('base64url');
  return { secret, secret_hash: createHash('sha256').update(secret).digest('base64url') };
}

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
