import * as z from 'zod';

/** The schema of seconds within bounds, fractions included. */
export const fractional = (minimum: number, maximum: number) =>
  z.number().min(minimum).max(maximum).meta({ unit: 'seconds' });

/** The schema of whole seconds within bounds. */
export const seconds = (minimum: number, maximum: number) =>
  z.int().min(minimum).max(maximum).meta({ unit: 'seconds' });

export const origin = z
  .string()
  .refine((value) => URL.canParse(value) && new URL(value).origin === value, {
    error: 'must be an origin such as https://auth.example, without a path or a trailing slash',
    abort: true,
  })
  .refine((value) => /^https?:/.test(value), {
    error: 'must be an http or https origin',
    abort: true,
  });

export const httpsOrigin = origin.refine((value) => value.startsWith('https:'), {
  error: 'must be an https origin',
});

export const absoluteUrl = z
  .string()
  .refine((value) => URL.canParse(value) && new URL(value).href === value, {
    error: 'must be an absolute URL in its normal form, such as https://api.example/documents/',
  })
  .refine((value) => /^https?:\/\/[^?#@]+$/.test(value), {
    error: 'must be http or https, without user, query or fragment',
  });

/** The schema of addresses and of networks in CIDR notation. */
export const networks = z.array(z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()]));

/** The schema of `realm` in a challenge (RFC 9110 section 11.5), without characters that need an escape. */
export const realmName = z
  .string()
  .regex(/^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,64}$/, 'must be 1 to 64 printable ASCII characters');

/** The schema of a field's name. */
export const fieldName = z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the name of a field');

export const rate = z.strictObject({
  burst: z.int().min(1).max(1_000_000).describe('Requests allowed at once.'),
  per: z.number().positive().max(86_400).describe('Seconds until one more is allowed.'),
});
