/**
 * Where programs of ours find what was compiled of their modules by those before them (see `global-setup.ts`): without it
 * each spends a second on that. For programs that are started in an environment without anything else of ours.
 */
export const compiled = (): Readonly<Record<string, string>> => {
  const { NODE_COMPILE_CACHE } = process.env
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
}
