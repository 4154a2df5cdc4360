import type { Capability } from '../capability.ts'
import { policyRulesSection } from './setup.ts'

export const policyRules: Capability = {
  setupSections: ({ writer }) => [policyRulesSection(writer)],
}
