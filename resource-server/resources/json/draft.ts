import { unprocessable } from '#shared/http/answer.ts';
import { MAX_DEPTH, MAX_VALUES } from './parse.ts';
import { arrayIndex, child, type Pointer } from './pointer.ts';
import type { Json } from './value.ts';

/** A document while the operations of a patch change it (RFC 6902 section 4). */
export class Draft {
  /** Undefined if there is no document. */
  root: Json | undefined;
  #copied = 0;

  constructor(root: Json | undefined) {
    this.root = root;
  }

  /** Returns undefined if there is no value at the pointer. */
  get(pointer: Pointer): Json | undefined {
    return pointer.reduce(child, this.root);
  }

  /** Adds a value (section 4.1). Returns false if its parent does not exist. */
  add(pointer: Pointer, value: Json): boolean {
    const key = pointer.at(-1);
    if (key === undefined) {
      this.root = value;
      return true;
    }
    const container = this.get(pointer.slice(0, -1));
    if (container instanceof Map) {
      container.set(key, value);
      return true;
    }
    if (!Array.isArray(container)) return false;
    const index = key === '-' ? container.length : arrayIndex(key);
    if (index < 0 || index > container.length) return false;
    container.splice(index, 0, value);
    return true;
  }

  /** Removes a value (section 4.2) and returns it. */
  remove(pointer: Pointer): Json | undefined {
    const found = this.get(pointer);
    const key = pointer.at(-1);
    if (key === undefined) {
      this.root = undefined;
    } else if (found !== undefined) {
      const container = this.get(pointer.slice(0, -1));
      if (container instanceof Map) container.delete(key);
      if (Array.isArray(container)) container.splice(arrayIndex(key), 1);
    }
    return found;
  }

  /** Replaces a value (section 4.3). */
  replace(pointer: Pointer, value: Json): boolean {
    const key = pointer.at(-1);
    if (key === undefined) {
      const found = this.root !== undefined;
      if (found) this.root = value;
      return found;
    }
    if (this.get(pointer) === undefined) return false;
    const container = this.get(pointer.slice(0, -1));
    if (container instanceof Map) container.set(key, value);
    if (Array.isArray(container)) container[arrayIndex(key)] = value;
    return true;
  }

  /**
   * Returns a deep copy of a value. Throws `HttpError` 422 if all copies together exceed `MAX_VALUES` values,
   * since a short patch can double a document again and again.
   */
  copy(value: Json): Json {
    return this.#copy(value, 0);
  }

  #copy(value: Json, depth: number): Json {
    this.#copied += 1;
    if (this.#copied > MAX_VALUES) throw unprocessable('The operations copy too much.');
    if (depth > MAX_DEPTH) throw unprocessable(`A copy would have over ${MAX_DEPTH} levels.`);
    if (Array.isArray(value)) return value.map((element) => this.#copy(element, depth + 1));
    if (!(value instanceof Map)) return value;
    return new Map([...value].map(([name, member]) => [name, this.#copy(member, depth + 1)]));
  }
}
