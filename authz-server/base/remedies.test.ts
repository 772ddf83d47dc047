import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { saysWhatToDo } from '#shared/refusals/advice.fixture.ts';
import { SENTENCES } from './reasons.ts';
import { remedyOf, REMEDIES, withRemedy } from './remedies.ts';

const ENGINE = dirname(fileURLToPath(import.meta.resolve('oidc-provider')));
const OURS = join(import.meta.dirname, '..');

/** The files of the engine's features that are off, or whose errors no answer has. */
const OFF =
  /ciba|credential|registration|pre_authorized|process_request_object|client_id_metadata|check_rar|attest|sector|initialize_clients|client_schema|models\/(?:client|id_token)|helpers\/configuration|access_token|userinfo|xsrf|reject_structured|helpers\/defaults|code_verification|re_render/;

/** The classes of errors whose argument is a detail for the log: answers have the description of the class. */
const DETAILED = 'InvalidGrant|InvalidClientAuth|InvalidToken|InvalidRedirectUri';

/** A text of the source: its words have a value `x` in place of each expression. */
const TEXT = String.raw`'((?:[^'\\]|\\.)*)'|"([^"]*)"|\x60([^\x60]*)\x60`;
const THROWN = new RegExp(
  String.raw`new (?:errors\.)?(?!${DETAILED})(?:Missing|Invalid|Unsupported|Unauthorized|Unmet|Expired|SlowDown|SessionNotFound|UseDpop)\w*\(\s*(?:${TEXT})`,
  'g',
);
const DEFAULTS = new RegExp(
  String.raw`(?:E\('\w+', |error_description(?: =|: description \|\|) |new Check\(\s*'\w+',\s*)(?:${TEXT})`,
  'g',
);

/** Descriptions of `invalid_target`, which are assigned after the error is made. */
const TARGETS = new RegExp(
  String.raw`(?:invalidTarget\(|const (?:NONE|UNKNOWN) = )(?:${TEXT})`,
  'g',
);

function textsIn(folder: string, patterns: readonly RegExp[]): string[] {
  const files = globSync('**/*.{js,ts}', { cwd: folder }).filter(
    (path) => !OFF.test(path) && !/\.(?:test|fixture)\.ts$|integration\//.test(path),
  );
  return files.flatMap((path) => {
    const source = readFileSync(join(folder, path), 'utf8');
    return patterns.flatMap((pattern) =>
      [...source.matchAll(pattern)].map(([, ...parts]) =>
        parts
          .filter((part) => part !== undefined)
          .join('')
          .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, 'x')
          .replaceAll(String.raw`\'`, "'"),
      ),
    );
  });
}

const engine = [...new Set(textsIn(ENGINE, [THROWN, DEFAULTS]))];
const ours = [...new Set(textsIn(OURS, [THROWN, TARGETS]))];

/** Texts of the engine that get a description of ours before they are answered, or of a feature that is off. */
const REPLACED = [
  'x is not allowed for this client',
  'requested grant type is not allowed for this client',
  'invalid OAuth-Client-Attestation format',
  'authorization_details were requested',
  'introspection must be requested with Accept: x for this client',
  'x unless encrypted',
];

/** Texts that no constructor has. */
const ASSIGNED = [
  'the person refused',
  'the person did not sign in by one of the acr_values',
  'the description of the client cannot be fetched',
];

/** The codes of errors that the engine answers without a description. */
const CODES = ['request_not_supported', 'request_uri_not_supported', 'registration_not_supported'];

test('each error that the engine may answer says what to do', () => {
  expect(engine.length).toBeGreaterThan(90);
  const silent = [...engine, ...CODES].filter((text) => remedyOf(text) === undefined);
  expect(silent.toSorted()).toEqual(REPLACED.toSorted());
});

test('each error that we answer in the form of the engine says what to do', () => {
  expect(ours.length).toBeGreaterThan(10);
  expect(ours.map(withRemedy).filter((text) => !saysWhatToDo(text))).toEqual([]);
});

test('each remedy begins with a verb, has the characters of a description, and is for some error', () => {
  for (const [, remedy] of REMEDIES) {
    expect(remedy).toMatch(/^[ !#-[\]-~]+$/); // RFC 6749 section 5.2
    expect([remedy, saysWhatToDo(remedy)]).toEqual([remedy, true]);
  }
  const used = new Set([...engine, ...CODES, ...ours, ...ASSIGNED].map(remedyOf));
  const unused = REMEDIES.filter(([, remedy]) => !used.has(remedy));
  expect(unused.map(([pattern]) => pattern.source)).toEqual([]);
});

test('each sentence of development says what to do', () => {
  const sentences = Object.values(SENTENCES).flatMap((of) => Object.values(of));
  expect(sentences.filter((text) => !saysWhatToDo(text))).toEqual([]);
});
