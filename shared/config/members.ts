import { z } from 'zod';
import { isServerName } from '#shared/private-token/server-name.ts';
import { isScopeToken } from '#shared/oauth/scope.ts';

/** Whole seconds within bounds. */
export const seconds = (minimum: number, maximum: number) =>
  z.int().min(minimum).max(maximum).meta({ unit: 'seconds' });

export const origin = z
  .string()
  .refine((value) => URL.canParse(value) && new URL(value).origin === value, {
    error: 'must be an origin such as https://auth.example, without a path or a trailing slash',
  })
  .refine((value) => /^https?:/.test(value), { error: 'must be an http or https origin' });

export const httpsOrigin = origin.refine((value) => value.startsWith('https:'), {
  error: 'must be an https origin',
});

/** A host with a port, which is 443 where it is missing (RFC 9577 section 2.1.1.1). */
export const serverName = z.string().refine(isServerName, {
  error: 'must be a server name such as issuer.example or issuer.example:8443',
});

export const absoluteUrl = z
  .string()
  .refine((value) => URL.canParse(value) && new URL(value).href === value, {
    error: 'must be an absolute URL in its normal form, such as https://api.example/documents/',
  })
  .refine((value) => /^https?:\/\/[^?#@]+$/.test(value), {
    error: 'must be http or https, without user, query or fragment',
  });

export const scopeList = z.array(
  z.string().refine(isScopeToken, { error: 'is not a scope-token (RFC 6749 section 3.3)' }),
);

export const rate = z.strictObject({
  burst: z.int().min(1).max(1_000_000).describe('how many may come at once'),
  per: z.number().positive().max(86_400).describe('seconds after which one more is allowed'),
});
