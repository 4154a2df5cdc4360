import type { Derivation } from '../catalogue/events.ts'
import { ageLastBirthday } from '../rating/age.ts'
import { bodyMassIndex } from '../rating/body-mass-index.ts'
import type { Answer } from './events.ts'

type Held = ReadonlyMap<string, Answer>

/** The answer that follows from others; undefined while one of those is missing. `today` is a date, `YYYY-MM-DD`. */
export const derive = (derivation: Derivation, held: Held, today: string): Answer | undefined => {
  switch (derivation.kind) {
    case 'age': {
      const born = held.get(derivation.key)
      return typeof born === 'string' ? ageLastBirthday(born, today) : undefined
    }
    case 'bmi':
      return bodyMassIndex(held.get(derivation.height_cm), held.get(derivation.weight_kg))
    case 'sum': {
      const parts = derivation.keys.map((key) => held.get(key)).filter((part) => typeof part === 'number')
      return parts.length === derivation.keys.length ? sum(parts) : undefined
    }
    case 'any': {
      const parts = derivation.keys.map((key) => held.get(key)).filter((part) => typeof part === 'boolean')
      return parts.length === derivation.keys.length ? parts.includes(true) : undefined
    }
  }
}

/** Sums without the traces of binary fractions: 0.1 + 0.2 is 0.3. */
const sum = (parts: readonly number[]): number => Number(parts.reduce((total, part) => total + part, 0).toPrecision(12))
