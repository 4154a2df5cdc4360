/** The secrets that a command leaves as they are, however they are by the time it is decided. */
export type Keeps = { readonly secret: boolean; readonly webhook_secret: boolean }

/** A secret as it is now, where a command leaves it as it is; otherwise that of the command. */
export const keptSecret = <Sealed extends string | null>(
  keeps: boolean | undefined,
  given: Sealed,
  held: Sealed | undefined,
): Sealed => (keeps === true && held !== undefined ? held : given)
