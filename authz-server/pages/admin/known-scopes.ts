import type { Config } from '#shared/config/schema.ts';
import { scopesOfSpaces } from '#shared/operations/clients/client-scopes.ts';
import type { Operation } from '#shared/operations/operation.ts';
import type { Language } from '#shared/pages/language.ts';
import type { AdminField } from '../frame/admin-view.ts';
import { textsOf } from '../texts/index.ts';
import { groupOf } from './addresses.ts';

/** Returns the fields of a form; that of a client's scopes says which ones the spaces ask for. */
export function withKnownScopes(
  fields: readonly AdminField[],
  operation: Operation,
  config: Config,
  language: Language,
): readonly AdminField[] {
  if (groupOf(operation) !== 'client') return fields;
  const hint = textsOf(language).admin.scopes(scopesOfSpaces(config).join(' '));
  return fields.map((field) =>
    field.name === 'scope' ? Object.assign({}, field, { hint }) : field,
  );
}
