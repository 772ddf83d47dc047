import { TOKEN_TYPES, type TokenType, tokenTypeNamed } from '#shared/private-token/token-types.ts';
import { type Input, UsageError } from './command.ts';

const NAMES = Object.values(TOKEN_TYPES).map(({ name }) => name);

/** Values of `--type`, for the help. */
export const TOKEN_TYPE_NAMES = NAMES.join(' or ');

/** The type that `--type` names, if it is given. Throws `UsageError`. */
export function tokenTypeOption(input: Input): TokenType | undefined {
  const text = input.text('type');
  if (text === undefined) return undefined;
  const name = NAMES.find((one) => one === text);
  if (name === undefined) throw new UsageError(`--type must be ${TOKEN_TYPE_NAMES}`);
  return tokenTypeNamed(name);
}
