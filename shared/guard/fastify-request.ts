// oxlint-disable-next-line unicorn/require-module-specifiers, import/no-empty-named-blocks -- what follows adds to it
import type {} from 'fastify';
import type { Guarded } from './frameworks.ts';

/** `import '@countersign/resource/fastify'` gives `request.auth` of Fastify its type. */
declare module 'fastify' {
  interface FastifyRequest extends Guarded {}
}
