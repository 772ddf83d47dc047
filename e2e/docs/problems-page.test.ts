import { describe, expect, test } from '@jest/globals';
import { CONDITIONS, OAUTH_ERRORS, STATUSES } from './problem-data.ts';
import { sentences } from './problems-page.ts';
import { sources } from './sources.ts';

const code = sources().filter(([path]) => !/^shared\/(?:cli|client|start)\//.test(path));
const matches = (pattern: RegExp, inFile = /./) =>
  code
    .filter(([path]) => inFile.test(path))
    .flatMap(([, text]) => [...text.matchAll(pattern)].map(([, group = '']) => group));
const keys = (rows: readonly (readonly [string, string, string])[]) =>
  new Set(rows.map(([key]) => key));

describe('the page of errors', () => {
  test('has every error status in the code', () => {
    const statuses = matches(
      /(?:HttpError\(|problemAnswer\(|davError\(|failure\(|\bstatus: |\bbare\()\s*([45]\d\d)\b/g,
    );
    expect(new Set(statuses).size).toBeGreaterThan(25);
    const known = keys(STATUSES);
    expect([...new Set(statuses)].filter((status) => !known.has(status))).toEqual([]);
  });

  test('has every WebDAV condition in the code', () => {
    const conditions = matches(/^ {2}\| '([a-z-]+)'/gm, /webdav\/dav-error\.ts$/);
    expect(new Set(conditions)).toEqual(keys(CONDITIONS));
  });

  test('has every OAuth error in the code', () => {
    const named = [
      ...matches(/\berrors\.([A-Z]\w+)\(/g).map((name) =>
        name.replaceAll(/(?!^)([A-Z])/g, '_$1').toLowerCase(),
      ),
      ...matches(
        /'((?:invalid|insufficient|unauthorized|use|access|temporarily|server)_[a-z_]+)'/g,
        /schemes\/(?:bearer|dpop)|dpop-proof|^authz-server\/(?:base|engine\/(?:answers|token))/,
      ),
    ];
    const known = keys(OAUTH_ERRORS);
    // Names of oidc-provider's classes and of parameters.
    const others = new Set([
      'invalid_client_auth',
      'invalid_request_uri',
      'session_not_found',
      'access_token',
    ]);
    const missing = named.filter((error) => !known.has(error) && !others.has(error));
    expect([...new Set(missing)]).toEqual([]);
  });

  test('has every error sentence in the code', () => {
    expect(sentences().length).toBeGreaterThan(120);
    expect(sentences()).toContainEqual(['413', 'XML has at most … bytes.']);
  });
});
