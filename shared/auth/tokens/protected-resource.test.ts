import { expect, test } from '@jest/globals';
import { metadataDocument, metadataUrl } from './protected-resource.ts';

test.each([
  ['https://rs.example/', 'https://rs.example/.well-known/oauth-protected-resource'],
  ['https://rs.example/a', 'https://rs.example/.well-known/oauth-protected-resource/a'],
  ['https://rs.example/a/b/', 'https://rs.example/.well-known/oauth-protected-resource/a/b/'],
  ['http://localhost:3001/a/', 'http://localhost:3001/.well-known/oauth-protected-resource/a/'],
])('RFC 9728 section 3.1: the metadata of %s is at %s', (url, metadata) => {
  expect(metadataUrl(url)).toBe(metadata);
});

const resource = {
  url: 'https://rs.example/a/',
  name: 'documents',
  issuer: 'https://as.example',
  schemes: ['Bearer', 'DPoP'],
  scopes: ['documents:read', 'documents:write'],
};

test('RFC 9728 section 2: the metadata has these parameters', () => {
  expect(metadataDocument(resource)).toEqual({
    resource: 'https://rs.example/a/',
    resource_name: 'documents',
    authorization_servers: ['https://as.example'],
    scopes_supported: ['documents:read', 'documents:write'],
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: ['ES256', 'RS256', 'EdDSA', 'Ed25519'],
    dpop_bound_access_tokens_required: false,
  });
});

test('RFC 9728 section 2: a space with DPoP alone requires bound tokens', () => {
  const document = metadataDocument({ ...resource, schemes: ['DPoP'] });
  expect(document['dpop_bound_access_tokens_required']).toBe(true);
  expect(document).not.toHaveProperty('bearer_methods_supported');
});

test('RFC 9728 section 3.2: parameters without a value are left out', () => {
  const document = metadataDocument({ ...resource, schemes: ['Bearer'], scopes: [] });
  expect(Object.keys(document)).toEqual([
    'resource',
    'resource_name',
    'authorization_servers',
    'bearer_methods_supported',
  ]);
});
