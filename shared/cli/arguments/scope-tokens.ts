import { isScopeToken, parseScope } from '#shared/jose/scope.ts';
import { UsageError } from './command.ts';

/** The scopes in the value of an option, each once; throws `UsageError` (RFC 6749 section 3.3). */
export function scopeTokens(option: string, value: string | undefined): readonly string[] {
  const tokens = [...parseScope(value)];
  const wrong = tokens.find((token) => !isScopeToken(token));
  if (wrong !== undefined) throw new UsageError(`${option}: "${wrong}" is not a scope`);
  return tokens;
}
