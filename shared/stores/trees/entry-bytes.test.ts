import { expect, test } from '@jest/globals';
import { someCollection, someDocument } from '../contract/samples.ts';
import { bytesOf, propertyBytesOf } from './entry-bytes.ts';

const properties = { '{x:}é': '<y>"\n😀</y>', '{}z': '' };

test.each([
  ['a document without properties', someDocument('a', { length: 5 }), 5, 0],
  ['an empty document', someDocument('a', { length: 0 }), 0, 0],
  ['names and values in UTF-8', someDocument('a', { length: 5, properties }), 27, 22],
  ['a collection', someCollection('c'), 0, 0],
  ['a collection with properties', someCollection('c', { properties }), 22, 22],
])('RFC 4331 section 3: the bytes of %s', (_, entry, bytes, ofProperties) => {
  expect([bytesOf(entry), propertyBytesOf(entry)]).toEqual([bytes, ofProperties]);
});
