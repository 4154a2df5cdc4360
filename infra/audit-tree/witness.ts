import { cosignature, readVerifier, type Verifier } from './signed-note.ts'

/** Somebody outside who follows audit logs and cosigns their checkpoints (C2SP tlog-witness). */
export type Witness = { readonly url: string; readonly verifier: Verifier }

/** The address of a witness, and after a space its key as C2SP verifier key; undefined for what is none. */
export const readWitness = (text: string): Witness | undefined => {
  const [address = '', key = '', ...more] = text.split(/\s+/)
  const verifier = readVerifier(key)
  if (!URL.canParse(address) || verifier?.type !== cosignature || more.length > 0) return undefined
  return { url: address.replace(/\/+$/, ''), verifier }
}

export const nameOfWitness = ({ verifier: { name, id } }: Witness): string => `${name}+${id}`
