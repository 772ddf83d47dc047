import type { Config } from '#shared/config/schema.ts';
import { type Command, UsageError } from '../command.ts';
import { expiresAt, expiresOption } from '../expires-option.ts';
import { addKey, keyLines } from '../new-key.ts';
import { scopeTokens } from '../scope-tokens.ts';
import { visibleName } from '../visible-name.ts';
import { withStores } from '../with-stores.ts';

export const keyAdd: Command = {
  name: 'key add',
  summary: 'make an API key for an application and print it, which is shown only now',
  options: {
    application: { value: 'NAME', required: true, help: 'whom the key identifies' },
    realm: { value: 'REALM', required: true, help: 'the one realm that it is good for' },
    scope: { value: '"A B"', help: 'what it allows; default: what needs no scope' },
    ...expiresOption('never'),
  },
  run: (input, shell) =>
    withStores(shell, async ({ apiKeys }, config) => {
      const expires_at = expiresAt(input, shell.clock);
      const key = await addKey(apiKeys, shell, {
        application: visibleName('--application', input.text('application') ?? ''),
        realm: realmOfKeys(config, input.text('realm')),
        scopes: scopeTokens('--scope', input.text('scope')),
        ...(expires_at !== undefined && { expires_at }),
      });
      return { json: key, lines: keyLines(key) };
    }),
};

function realmOfKeys({ spaces }: Config, asked: string | undefined): string {
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
