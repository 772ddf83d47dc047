import type { Config, SpaceConfig } from './schema.ts';

/** The configuration with the spaces of one that names none: documents, and the same hidden. */
export function withTour(config: Config): Config {
  const space = (name: string): SpaceConfig => ({
    url: `${config.resource}/${name}/`,
    realm: name,
    schemes: ['Bearer', 'DPoP'],
    scopes: { safe: [`${name}:read`], unsafe: [`${name}:write`] },
    alg: 'ES256',
    nonce: false,
    cors: { origins: [] },
    serves: 'documents',
  });
  return {
    ...config,
    scopeTexts: { ...TEXTS, ...config.scopeTexts },
    spaces: [space('documents'), { ...space('hidden'), hide: 'forbidden' }],
  };
}

const TEXTS: Config['scopeTexts'] = {
  'documents:read': { en: 'Read the documents', de: 'Die Dokumente lesen' },
  'documents:write': {
    en: 'Add, change and delete documents',
    de: 'Dokumente hinzufügen, ändern und löschen',
  },
  'hidden:read': { en: 'Read the hidden documents', de: 'Die verborgenen Dokumente lesen' },
  'hidden:write': {
    en: 'Add, change and delete hidden documents',
    de: 'Verborgene Dokumente hinzufügen, ändern und löschen',
  },
};
