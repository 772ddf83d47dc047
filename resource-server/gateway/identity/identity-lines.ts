import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import { type UpstreamConfig, upstreamUrls } from '#shared/config/upstream-schema.ts';
import type { Lines } from '../../forwarding/fields.ts';
import { identityFields, type Passed, STATEMENT_FIELD } from '../../identity-fields.ts';
import type { Statements } from './statements.ts';

/** The field lines that tell an application who was let in, as its space is configured. */
export function identityLines(
  statements: Statements,
  config: UpstreamConfig,
): (passed: Passed) => Awaitable<Lines> {
  const { name: audience = upstreamUrls(config)[0] ?? '', identity } = config;
  const plain = (passed: Passed): Lines =>
    identity.includes('fields') ? Object.entries(identityFields(passed)) : [];
  if (!identity.includes('statement')) return plain;
  return (passed) =>
    andThen(statements.of(passed, audience), (statement) =>
      statement === undefined ? plain(passed) : [[STATEMENT_FIELD, statement], ...plain(passed)],
    );
}
