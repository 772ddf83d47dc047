import type { Config } from '#shared/config/schema.ts';
import { UsageError } from './command.ts';

/** Returns a realm that takes API keys; throws `UsageError` for another. */
export function realmOfKeys({ spaces }: Config, asked: string | undefined): string {
  if (asked === undefined) throw new UsageError('--realm REALM is missing');
  const realms = spaces
    .filter(({ schemes, apiKey }) => schemes.includes('API-Key') || apiKey.beside)
    .map(({ realm }) => realm);
  const found = realms.find((realm) => realm === asked);
  if (found !== undefined) return found;
  throw new UsageError(
    realms.length === 0
      ? '--realm: no space takes API keys: name the scheme API-Key in one'
      : `--realm must be one that takes API keys: ${realms.join(', ')}`,
  );
}
