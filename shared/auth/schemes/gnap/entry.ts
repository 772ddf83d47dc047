import * as z from 'zod';
import type { SchemeEntry, SchemeParts, SchemeSpace } from '../parts/scheme-entry.ts';
import { isScopeToken } from '#shared/jose/scope.ts';

const MEMBERS = ['locations', 'datatypes', 'identifier', 'privileges'] as const;

const gnapSettings = z
  .strictObject({
    access: z
      .record(
        z.string().min(1),
        z.record(z.string().min(1), z.array(z.string().refine(isScopeToken)).min(1)),
      )
      .default({})
      .describe(
        'Types of access that clients can request. For each type: its actions, with the scopes that the action needs (RFC 9635 section 8). The URL of the space is always such a type, and its actions are the scopes.',
      ),
    enforces: z
      .array(z.enum(MEMBERS))
      .default([])
      .describe(
        'Members of an access request that the application itself enforces. The application gets these members by introspection. The server refuses access requests with other members.',
      ),
  })
  .prefault({})
  .describe('Access that GNAP clients can request (only with the scheme GNAP).');

export const gnapEntry = {
  name: 'GNAP',
  forPeople: false,
  settings: { gnap: gnapSettings },
  trial: {
    path: 'gnap',
    members: { scopes: { safe: ['schemes'], unsafe: ['schemes'] } },
  },
  async open({ issuer, mtls, tokens, stores: { replay }, clock }: SchemeParts) {
    const { gnap } = await import('./gnap.ts');
    const grantEndpoint = `${issuer}/gnap`;
    return (space: SchemeSpace) => gnap({ space, grantEndpoint, mtls, tokens, replay, clock });
  },
} as const satisfies SchemeEntry;
