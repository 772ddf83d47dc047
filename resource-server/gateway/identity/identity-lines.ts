import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { ToldFields } from '#shared/config/identity-schema.ts';
import { type UpstreamConfig, upstreamUrls } from '#shared/config/upstream-schema.ts';
import type { Lines } from '../../forwarding/fields.ts';
import { identityFields, type Passed, STATEMENT_FIELD } from '../../space/identity-fields.ts';
import type { Statements } from './statements.ts';

/**
 * The field lines that name the admitted caller to an application, as its space is configured. `fields`: additional
 * configured fields. Unknown values give no line, since applications would read an empty field as a name.
 */
export function identityLines(
  statements: Statements,
  config: UpstreamConfig,
  fields?: ToldFields,
): (passed: Passed) => Awaitable<Lines> {
  const { name: audience = upstreamUrls(config)[0] ?? '', identity } = config;
  const ours = (passed: Passed): Lines =>
    identity.includes('fields') ? Object.entries(identityFields(passed)) : [];
  const plain = (passed: Passed): Lines =>
    fields
      ? [...ours(passed), ...Object.entries(identityFields(passed, fields)).filter(isKnown)]
      : ours(passed);
  if (!identity.includes('statement')) return plain;
  return (passed) =>
    andThen(statements.of(passed, audience), (statement) =>
      statement === undefined ? plain(passed) : [[STATEMENT_FIELD, statement], ...plain(passed)],
    );
}

const isKnown = ([, value]: Lines[number]) => value !== '';
