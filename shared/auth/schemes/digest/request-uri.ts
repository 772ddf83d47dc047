import type { AuthRequest } from '../../scheme.ts';

type Asked = Pick<AuthRequest, 'target' | 'origin'>;

const ABSOLUTE = /^https?:\/\/[^/?]+(.*)$/i;

/**
 * The forms that `uri` may have; a form returns undefined if the target has no such form. No client is known that
 * encodes other octets than in its target. Clients that drop the query are refused.
 */
const FORMS: Readonly<Record<string, (asked: Asked) => string | undefined>> = {
  /** Sent by all clients but the following, and by all with CONNECT, whose target is host and port. */
  asReceived: ({ target }) => target,

  /** Sent by curl, Chromium and python-requests to a proxy: they leave the origin out. */
  originForm({ target }) {
    const rest = ABSOLUTE.exec(target)?.[1];
    return rest?.startsWith('/') === false ? `/${rest}` : rest;
  },

  /** Sent by Apache HttpClient 4 to an origin through a proxy that turned the target into origin-form. */
  absoluteForm: ({ target, origin }) => (target.startsWith('/') ? origin + target : undefined),
};

/** True if `uri` designates the requested resource (RFC 7616 section 3.4.6). */
export function isRequestUri(uri: string, asked: Asked): boolean {
  return Object.values(FORMS).some((form) => form(asked) === uri);
}
