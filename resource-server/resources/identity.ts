import type { ResourceAnswer } from '../answers/pieces.ts';
import type { ResourceContext, ServedResources } from './resource/resource.ts';

/** Answers in JSON who the client is: by which scheme, in which realm, and as which principal. */
async function answer({ scheme, space, principal }: ResourceContext): Promise<ResourceAnswer> {
  const { kind } = principal;
  const named =
    principal.kind === 'person'
      ? { name: principal.name }
      : principal.kind === 'application'
        ? { id: principal.id }
        : {};
  return {
    status: 200,
    fields: { 'Content-Type': 'application/json', 'Cache-Control': 'private, no-store' },
    body: JSON.stringify({ scheme, realm: space.realm, principal: { kind, ...named } }),
  };
}

const METHODS = ['GET', 'HEAD', 'POST'];

/** A resource for authors of clients. It exists only at the path of the space. */
export const identity: ServedResources = {
  possible: (target, space) => (target.segments.length === space.segments.length ? METHODS : []),
  async find(context) {
    const { target, space } = context;
    if (target.segments.length !== space.segments.length) return undefined;
    return { missing: false, methods: METHODS, options: {}, perform: () => answer(context) };
  },
};
