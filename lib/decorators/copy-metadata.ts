/** Gives `to` the own Reflect metadata of `from`: routes, guards, schedules and the like stay with a wrapped method. */
export function copyMetadata(from: object, to: object): void {
  for (const key of Reflect.getOwnMetadataKeys(from))
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, from), to);
}
