import type { KoaContextWithOIDC } from 'oidc-provider';

type Next = () => Promise<unknown>;

/** No cache keeps an error, whatever the engine's endpoint says of its answers. */
export async function unstored(ctx: KoaContextWithOIDC, next: Next): Promise<void> {
  await next();
  const said = ctx.res.hasHeader('Cache-Control');
  if (ctx.status >= 400 && !said) ctx.set('Cache-Control', 'no-store');
}

/** 429 and 503 say when to come back (RFC 9110 section 10.2.3). */
export async function comeBack(ctx: KoaContextWithOIDC, next: Next): Promise<void> {
  await next();
  if ([429, 503].includes(ctx.status) && !ctx.res.hasHeader('Retry-After')) {
    ctx.set('Retry-After', String(ctx.state['retryAfter'] ?? 1));
  }
}

/** Every 401 has a challenge (RFC 9110 section 15.5.2); the engine's has one only if Authorization was sent. */
export function challenged(issuer: string) {
  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    await next();
    if (ctx.status !== 401 || ctx.res.hasHeader('WWW-Authenticate')) return;
    ctx.set('WWW-Authenticate', `Basic realm="${issuer}", error="invalid_client"`);
  };
}
