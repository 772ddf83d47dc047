import { derivedKey } from '#shared/base/derived-key.ts';
import { tokenTypeNamed } from '#shared/private-token/token-types.ts';
import type { SchemeEntry, SchemeParts, SchemeSpace } from '../parts/scheme-entry.ts';
import { type PrivateTokenSettings, privateTokenSettings } from './settings.ts';

export const privateTokenEntry = {
  name: 'PrivateToken',
  forPeople: false,
  settings: { privateToken: privateTokenSettings },
  trial: { path: 'private-token' },
  async open({ stores, issuers, redemptions, master, clock }: SchemeParts) {
    const { privateToken } = await import('./private-token.ts');
    const shared = {
      spent: stores.spentTokens,
      limits: stores.limits,
      rate: redemptions,
      windowSecret: derivedKey(master, 'private-token-window'),
      addressSecret: derivedKey(master, 'private-token-address'),
      memory: () => stores.revocations.epoch(false),
      clock,
    };
    return ({
      url,
      privateToken: { issuer, types, window, origins },
    }: SchemeSpace & { readonly privateToken: PrivateTokenSettings }) =>
      privateToken({
        ...shared,
        space: {
          url,
          types: types.map(tokenTypeNamed),
          ...(window !== undefined && { window }),
          origins,
        },
        issuer: issuers(issuer),
      });
  },
} as const satisfies SchemeEntry;
