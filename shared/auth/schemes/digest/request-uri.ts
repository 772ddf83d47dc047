import type { AuthRequest } from '../../scheme.ts';

type Asked = Pick<AuthRequest, 'target' | 'origin'>;

const ABSOLUTE = /^https?:\/\/[^/?]+(.*)$/i;

/**
 * The accepted forms of `uri`; a function returns undefined if the target has no such form. No known client encodes
 * octets in `uri` other than in its target. Clients that drop the query are refused.
 */
const FORMS: Readonly<Record<string, (asked: Asked) => string | undefined>> = {
  /** The target as received, which most clients send; with CONNECT, where the target is host and port, all do. */
  asReceived: ({ target }) => target,

  /** The target without the origin, which curl, Chromium and python-requests send to a proxy. */
  originForm({ target }) {
    const rest = ABSOLUTE.exec(target)?.[1];
    return rest?.startsWith('/') === false ? `/${rest}` : rest;
  },

  /**
   * The absolute URL, which Apache HttpClient 4 sends to an origin through a proxy that turned the target into
   * origin-form.
   */
  absoluteForm: ({ target, origin }) => (target.startsWith('/') ? origin + target : undefined),
};

/** True if `uri` designates the requested resource (RFC 7616 section 3.4.6). */
export function isRequestUri(uri: string, asked: Asked): boolean {
  return Object.values(FORMS).some((form) => form(asked) === uri);
}
