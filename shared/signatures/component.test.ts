import { describe, expect, test } from '@jest/globals';
import { componentsOf } from './component.ts';
import { BadSignature, type SignedMessage, type SignedRequest } from './message.ts';
import { input, withFields } from './message.fixture.ts';
import { signatureBase } from './signature-base.ts';

const REQUEST: SignedRequest = {
  method: 'POST',
  targetUri: 'https://www.example.com/path?param=value&foo=bar&baz=batman&qux=',
  requestTarget: '/path?param=value&foo=bar&baz=batman&qux=',
  ...withFields({
    Host: 'www.example.com',
    'X-OWS-Header': '  Leading and trailing whitespace.  ',
    'Cache-Control': ['max-age=60', '   must-revalidate'],
    'X-Empty': '',
    Example: ['value, with, lots', 'of, commas'],
    Priority: ' u=1,    i;x=1;y=2,   c=(a   b   c), d',
    'X-Obs': 'caf\u00e9',
    'X-Lines': 'a\nb',
    'Content-Digest': 'sha-256=:aGk=:',
  }),
  trailers: withFields({ Expires: 'Wed, 9 Nov 2022 07:28:00 GMT' }).lines,
};
const ANSWER: SignedMessage = { status: 503, request: REQUEST, ...withFields({ Age: '1' }) };

const valueOf = (identifier: string, message: SignedMessage = REQUEST): string => {
  const [one] = input(`(${identifier})`).identifiers;
  if (one === undefined) throw new Error(identifier);
  return componentsOf(message)(one);
};
const at = (targetUri: string): SignedRequest => ({ ...REQUEST, targetUri });

describe('RFC 9421 section 2.1: fields', () => {
  test.each([
    ['"host"', 'www.example.com'],
    ['"x-ows-header"', 'Leading and trailing whitespace.'],
    ['"cache-control"', 'max-age=60, must-revalidate'],
    ['"x-empty"', ''],
    ['"priority"', 'u=1,    i;x=1;y=2,   c=(a   b   c), d'],
    ['"priority";sf', 'u=1, i;x=1;y=2, c=(a b c), d'],
    ['"priority";key="u"', '1'],
    ['"priority";key="i"', '?1;x=1;y=2'],
    ['"priority";key="c";sf', '(a b c)'],
    ['"priority";key="d"', '?1'],
    ['"example";bs', ':dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:'],
    ['"x-obs";bs', ':Y2Fm6Q==:'],
    ['"expires";tr', 'Wed, 9 Nov 2022 07:28:00 GMT'],
  ])('the field %s has a value', (identifier, value) => expect(valueOf(identifier)).toBe(value));

  test.each([
    ['"date"', 'the message has no date'],
    ['"expires"', 'the message has no expires'],
    ['"host";tr', 'the message has no host'],
    ['"Host"', 'not in lower case'],
    ['"example";bs;sf', 'bs beside sf or key'],
    ['"priority";bs;key="u"', 'bs beside sf or key'],
    ['"example";sf', 'no dictionary that we know'],
    ['"priority";key="z"', 'no member z'],
    ['"priority";key=u', 'is no string'],
    ['"priority";sf="u"', 'the parameter sf has a value'],
    ['"priority";sf=?0', 'the parameter sf has a value'],
    ['"host";unknown', 'has the parameter unknown'],
    ['"host";name="x"', 'has the parameter name'],
    ['"x-obs"', 'not ASCII'],
    ['"x-lines"', 'not ASCII'],
  ])('the field %s is refused: %s', (identifier, reason) =>
    expect(() => valueOf(identifier)).toThrow(reason),
  );
});

describe('RFC 9421 section 2.2: derived components', () => {
  test.each([
    ['"@method"', 'POST'],
    ['"@target-uri"', REQUEST.targetUri],
    ['"@authority"', 'www.example.com'],
    ['"@scheme"', 'https'],
    ['"@request-target"', REQUEST.requestTarget],
    ['"@path"', '/path'],
    ['"@query"', '?param=value&foo=bar&baz=batman&qux='],
    ['"@query-param";name="baz"', 'batman'],
    ['"@query-param";name="qux"', ''],
  ])('the component %s has a value', (identifier, value) =>
    expect(valueOf(identifier)).toBe(value),
  );

  test.each([
    ['"@authority"', 'HTTPS://WWW.Example.com:443/', 'www.example.com'],
    ['"@authority"', 'http://www.example.com:443', 'www.example.com:443'],
    ['"@scheme"', 'HTTP://a', 'http'],
    ['"@path"', 'https://a?b', '/'],
    ['"@path"', 'https://a/%2e%2E/./b%2f?c', '/%2e%2E/./b%2f'],
    ['"@query"', 'https://a/b', '?'],
    ['"@query"', 'https://a/b?', '?'],
    ['"@query"', 'https://a/?foo=bar&baz=bat%2Dman', '?foo=bar&baz=bat%2Dman'],
    [
      '"@query-param";name="var"',
      'https://a/?var=this%20is%20a%20big%0Amultiline%20value',
      'this%20is%20a%20big%0Amultiline%20value',
    ],
    [
      '"@query-param";name="bar"',
      'https://a/?bar=with+plus+whitespace',
      'with%20plus%20whitespace',
    ],
    [
      '"@query-param";name="fa%C3%A7ade%22%3A%20"',
      'https://a/?fa%C3%A7ade%22%3A%20=something',
      'something',
    ],
    ['"@query-param";name="a%21%27%28%29%7E*-._"', "https://a/?a!'()~*-._=x", 'x'],
  ])('the component %s is derived from %s', (identifier, targetUri, value) =>
    expect(valueOf(identifier, at(targetUri))).toBe(value),
  );

  test.each([
    ['"@query-param";name="none"', 'nowhere'],
    ['"@query-param"', 'the parameter name is no string'],
    ['"@query-param";name=baz', 'the parameter name is no string'],
    ['"@method";sf', 'has the parameter sf'],
    ['"@method";name="x"', 'has the parameter name'],
    ['"@status"', 'a request has no @status'],
    ['"@signature-params"', 'a request has no @signature-params'],
    ['"@METHOD"', 'a request has no @METHOD'],
    ['"@constructor"', 'a request has no @constructor'],
    ['"@method";req', 'a request has a component with req'],
    ['"host";req', 'a request has a component with req'],
  ])('the component %s is refused: %s', (identifier, reason) =>
    expect(() => valueOf(identifier)).toThrow(reason),
  );

  test('RFC 9110 section 5.4: a query with more than 1,024 parameters is refused', () => {
    const valueFor = (others: number) =>
      valueOf('"@query-param";name="x"', at(`https://a/?x=1${'&a'.repeat(others)}`));
    expect(valueFor(1023)).toBe('1');
    expect(() => valueFor(1024)).toThrow('more than 1,024 parameters');
  });

  test('section 2.2.8: a parameter that the query has twice is refused', () => {
    expect(() => valueOf('"@query-param";name="a"', at('https://a/?a=1&%61=2'))).toThrow('twice');
  });
});

describe('RFC 9421 section 2.4: components of an answer', () => {
  test.each([
    ['"@status"', '503'],
    ['"age"', '1'],
    ['"@method";req', 'POST'],
    ['"content-digest";req', 'sha-256=:aGk=:'],
    ['"content-digest";key="sha-256";req', ':aGk=:'],
    ['"expires";tr;req', 'Wed, 9 Nov 2022 07:28:00 GMT'],
  ])('the component %s of an answer has a value', (identifier, value) =>
    expect(valueOf(identifier, ANSWER)).toBe(value),
  );

  test.each([
    ['"@method"', 'an answer has no @method'],
    ['"@status";req', 'a request has no @status'],
    ['"age";req', 'the message has no age'],
  ])('the component %s of an answer is refused: %s', (identifier, reason) =>
    expect(() => valueOf(identifier, ANSWER)).toThrow(reason),
  );

  test('an answer whose request is unknown is refused', () => {
    const answer = { status: 200, ...withFields({}) };
    expect(() => valueOf('"@method";req', answer)).toThrow('unknown');
  });
});

describe('RFC 9421 section 2.5: the signature base', () => {
  const base = (text: string) => {
    const { identifiers, params } = input(text);
    return signatureBase(identifiers, params, REQUEST);
  };

  test('the signature base has a line for each component, and the parameters at the end', () => {
    expect(base('("@method" "x-empty");created=1;keyid="a\\"b"')).toBe(
      '"@method": POST\n"x-empty": \n"@signature-params": ("@method" "x-empty");created=1;keyid="a\\"b"',
    );
  });

  test.each(['("@method" "@method")', '("priority";key="c";sf "priority";sf;key="c")'])(
    '%s: a repeated component is refused, whatever the order of its parameters',
    (text) => {
      expect(() => base(text)).toThrow('covered twice');
    },
  );

  test('components that differ in a parameter are different', () => {
    expect(() => base('("priority";key="u" "priority";key="c" "priority")')).not.toThrow();
  });
});

test('a message is read only once, although a stranger chooses it and all 64 components', () => {
  const read: string[] = [];
  const message: SignedRequest = {
    ...REQUEST,
    get targetUri() {
      read.push('query');
      return `https://a.example/?${'a&'.repeat(5000)}`;
    },
    lines: (name) => {
      read.push(name);
      return [`k=1, ${'a, '.repeat(5000)}b`];
    },
  };
  const components = Array.from({ length: 32 }, (_, n) => [
    `"@query-param";name="n${n}"`,
    `"priority";key="k${n}"`,
  ]);
  const value = componentsOf(message);
  for (const identifier of input(`(${components.flat().join(' ')})`).identifiers) {
    try {
      value(identifier);
    } catch (error) {
      expect(error).toBeInstanceOf(BadSignature);
    }
  }
  expect(read.toSorted()).toEqual(['priority', 'query']);
});
