import type { AuthRequest } from '../../scheme.ts';

type Asked = Pick<AuthRequest, 'target' | 'origin'>;

const ABSOLUTE = /^https?:\/\/[^/?]+(.*)$/i;

/**
 * What `uri` may be, and who sends it so; undefined for a target that has no such form. No client is
 * known that encodes another octet than in its target, and those that drop the query are refused.
 */
const FORMS: Readonly<Record<string, (asked: Asked) => string | undefined>> = {
  /** All but the following, and all with CONNECT, whose target is host and port. */
  asReceived: ({ target }) => target,

  /** curl, Chromium and python-requests at a proxy: they leave the origin out. */
  originForm({ target }) {
    const rest = ABSOLUTE.exec(target)?.[1];
    return rest?.startsWith('/') === false ? `/${rest}` : rest;
  },

  /** Apache HttpClient 4 at an origin behind a proxy, which made an origin-form of what it was sent. */
  absoluteForm: ({ target, origin }) => (target.startsWith('/') ? origin + target : undefined),
};

/** Whether `uri` designates what is asked for (RFC 7616 section 3.4.6). */
export function isRequestUri(uri: string, asked: Asked): boolean {
  return Object.values(FORMS).some((form) => form(asked) === uri);
}
