import { type Shell, UsageError } from './command.ts';

/** The token that an operand is, or, for `-`, that standard input holds. */
export async function readToken(operand: string | undefined, shell: Shell): Promise<string> {
  const token = operand === '-' ? (await shell.readStdin()).toString() : (operand ?? '');
  if (token.trim() === '') throw new UsageError('there is no token');
  return token.trim();
}
