import type { KoaContextWithOIDC } from 'oidc-provider';
import { cspSource } from './pages/csp-source.ts';

type Next = () => Promise<unknown>;

const POLICY = 'Content-Security-Policy';
/** The engine adds the hash of its script to this directive, on the pages that submit themselves. */
const EMPTY = 'script-src';
const HASHED = /^script-src ('sha256-[\w+/=]+')$/;

/** Fields of every answer that a browser shows or follows. */
const FIELDS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

/** The engine's routes that browsers navigate to; the others are for programs. */
export const NAVIGATED = /^\/(?:auth|session)(?:\/|$)/;

/**
 * The engine's own pages submit themselves: the answer by `response_mode=form_post` (OAuth 2.0 Form Post
 * Response Mode section 2) and the end of somebody else's session. Their policy allows that script, by its
 * hash, and the place that the form leads to; without script they have a button.
 */
export async function enginePages(ctx: KoaContextWithOIDC, next: Next): Promise<void> {
  if (!NAVIGATED.test(ctx.path)) {
    await next();
    return;
  }
  ctx.set(POLICY, EMPTY);
  await next();
  const policy = ctx.response.get(POLICY);
  const [, hash] = HASHED.exec(policy) ?? [];
  if (hash !== undefined) ctx.set(POLICY, submittingPolicy(hash, destination(ctx)));
  else if (policy === EMPTY) ctx.remove(POLICY);
  for (const [name, value] of Object.entries(FIELDS)) {
    if (!ctx.res.hasHeader(name)) ctx.set(name, value);
  }
}

/** The checked URI that the form leads to, at once or by the redirects that follow. */
function destination({ oidc }: KoaContextWithOIDC): string | undefined {
  const params = oidc.params ?? oidc.entities.Interaction?.params;
  const uri = params?.['redirect_uri'] ?? params?.['post_logout_redirect_uri'];
  return typeof uri === 'string' ? uri : undefined;
}

function submittingPolicy(hash: string, uri: string | undefined): string {
  return [
    "default-src 'none'",
    `script-src ${hash}`,
    ["form-action 'self'", uri === undefined ? undefined : cspSource(uri)]
      .filter(Boolean)
      .join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
