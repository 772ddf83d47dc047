import { type Shell, UsageError } from './command.ts';

/** Returns the token in an operand, or from standard input if the operand is `-`. */
export async function readToken(operand: string | undefined, shell: Shell): Promise<string> {
  const token = operand === '-' ? (await shell.readStdin()).toString() : (operand ?? '');
  if (token.trim() === '') throw new UsageError('there is no token');
  return token.trim();
}
