import type { Handler, Methods, Resources } from './resource.ts';

/** Says who the client is, in words of JSON: by which scheme, in which realm, and as whom. */
const answer: Handler = async (context) => {
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
};

const METHODS: Methods = new Map([
  ['GET', answer],
  ['HEAD', answer],
  ['POST', answer],
]);

/** For authors of clients: the space itself, and nothing below it. */
export const identity: Resources = (target, space) =>
  target.segments.length === space.segments.length ? METHODS : undefined;
