import type { SpaceConfig } from './schema.ts';

/** The spaces of a configuration that names none: documents, and the same behind a space that hides. */
export function tourSpaces(resource: string): SpaceConfig[] {
  const space = (name: string): SpaceConfig => ({
    url: `${resource}/${name}/`,
    realm: name,
    schemes: ['Bearer', 'DPoP'],
    scopes: { safe: [`${name}:read`], unsafe: [`${name}:write`] },
    alg: 'ES256',
    nonce: false,
    cors: { origins: [] },
    serves: 'documents',
  });
  return [space('documents'), { ...space('hidden'), hide: 'forbidden' }];
}
