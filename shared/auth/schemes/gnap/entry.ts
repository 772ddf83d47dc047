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
        'Types of access that clients can ask for, and for each its actions with the scopes that they need (RFC 9635 section 8). The URL of the space is always a type, whose actions are the scopes.',
      ),
    enforces: z
      .array(z.enum(MEMBERS))
      .default([])
      .describe(
        'Members of access that the application itself enforces, as it reads them at introspection. Access with other members is refused.',
      ),
  })
  .prefault({})
  .describe('Access of GNAP (only with the scheme GNAP).');

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
