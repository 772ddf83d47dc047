import type { Target } from '#shared/http/target.ts';
import type { Space } from '../space/spaces.ts';

/**
 * The resources of a push service (RFC 8030 section 2.1), by their segment below the space, with their methods. The id
 * in the next segment is the capability to use a resource. `subscribe` has no id.
 */
export const METHODS = {
  subscribe: ['POST'],
  subscription: ['GET', 'HEAD', 'DELETE'],
  push: ['POST'],
  message: ['GET', 'HEAD', 'DELETE'],
  receipts: ['GET', 'HEAD', 'DELETE'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Kind = keyof typeof METHODS;

export interface Address {
  readonly kind: Kind;
  /** The id. Empty for `subscribe`. */
  readonly id: string;
}

/**
 * An id of 128 bits (`randomId`), which cannot be guessed (section 8.3). A character for its place in the store may
 * precede it.
 */
const ID = /^[\w-]{22,23}$/;

const isKind = (segment: string | undefined): segment is Kind =>
  segment !== undefined && Object.hasOwn(METHODS, segment);

/** Returns the resource at a target. Undefined: no such resource can exist. */
export function addressOf(space: Pick<Space, 'segments'>, target: Target): Address | undefined {
  const [kind, id, more] = target.segments.slice(space.segments.length);
  if (!isKind(kind) || more !== undefined || target.query !== undefined) return undefined;
  if (kind === 'subscribe') return id === undefined ? { kind, id: '' } : undefined;
  return id !== undefined && ID.test(id) ? { kind, id } : undefined;
}

/** Returns the path of a resource. */
export function pathOf({ url }: Pick<Space, 'url'>, { kind, id }: Address): string {
  return new URL(`${kind}/${id}`, withSlash(url)).pathname;
}

/**
 * Returns the id of a resource that a client names by its URL. Undefined if the URL is not such a resource of this
 * space.
 */
export function idIn(space: Pick<Space, 'url'>, kind: Kind, reference: string): string | undefined {
  const start = new URL(`${kind}/`, withSlash(space.url)).href;
  const url = URL.parse(reference, space.url)?.href ?? '';
  const id = url.slice(start.length);
  return url.startsWith(start) && ID.test(id) ? id : undefined;
}

const withSlash = (url: string) => (url.endsWith('/') ? url : `${url}/`);
