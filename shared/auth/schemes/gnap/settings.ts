import * as z from 'zod';
import { isScopeToken } from '#shared/jose/scope.ts';

const MEMBERS = ['locations', 'datatypes', 'identifier', 'privileges'] as const;

export const gnapSettings = z
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

export type GnapSettings = z.infer<typeof gnapSettings>;
