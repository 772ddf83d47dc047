import * as z from 'zod';

/** Returns the names that members of a value may have at a path. Empty if the schema allows any name there. */
export function knownMembers(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  const [first, ...rest] = path;
  return choices(schema).flatMap((choice) => {
    if (first === undefined) return choice instanceof z.ZodObject ? Object.keys(choice.shape) : [];
    const inner = innerOf(choice, String(first));
    return inner === undefined ? [] : knownMembers(inner, rest);
  });
}

/** Returns the schema of a member of an object, or of an entry of an array or a record. */
function innerOf(schema: z.ZodType, name: string): z.ZodType | undefined {
  if (schema instanceof z.ZodArray) return schema.element as z.ZodType;
  if (schema instanceof z.ZodRecord) return schema.valueType as z.ZodType;
  if (!(schema instanceof z.ZodObject) || !Object.hasOwn(schema.shape, name)) return undefined;
  return schema.shape[name] as z.ZodType;
}

/**
 * Returns the members of a union (or the schema itself), without wrappers for optional values, defaults and transforms.
 */
export function choices(schema: z.ZodType): readonly z.ZodType[] {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodNullable
  ) {
    return choices(schema.unwrap() as z.ZodType);
  }
  if (schema instanceof z.ZodPipe) return choices(schema.in as z.ZodType);
  if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).flatMap(choices);
  return [schema];
}
