import type { Address, ResourceContext, Resources } from './resource.ts';

/** Says who the client is, in words of JSON: by which scheme, in which realm, and as whom. */
async function answer(context: ResourceContext): Promise<void> {
  const { scheme, space, principal } = context.state;
  const { kind } = principal;
  const named =
    principal.kind === 'person'
      ? { name: principal.name }
      : principal.kind === 'application'
        ? { id: principal.id }
        : {};
  context.body = JSON.stringify({ scheme, realm: space.realm, principal: { kind, ...named } });
  context.set({ 'Content-Type': 'application/json', 'Cache-Control': 'private, no-store' });
}

const METHODS = ['GET', 'HEAD', 'POST'];
const ADDRESS: Address = { missing: false, methods: METHODS, options: {}, perform: answer };

/** For authors of clients: the space itself, and nothing below it. */
export const identity: Resources = {
  possible: (target, space) => (target.segments.length === space.segments.length ? METHODS : []),
  find: async ({ target, space }) =>
    target.segments.length === space.segments.length ? ADDRESS : undefined,
};
