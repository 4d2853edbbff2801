import { countTextsOf } from '../logic/kept-texts.js'
import { asked } from '../state/asked.js'
import { kept } from '../state/browser-store.js'
import { me, signOut } from '../state/session.js'
import { Question } from './question.js'

/** Signing out removes what the browser keeps of the user. If that was never saved, it is asked first. */
export async function askToSignOut(): Promise<void> {
  const count = countTextsOf(kept, me.peek()?.actor ?? '')
  if (count === 0) return signOut()
  asked.value = (
    <Question title="Sign out" label="Sign out" act={signOut}>
      <p>
        {count === 1 ? 'Changes to a rule are' : `${count} changes to rules are`} not saved. This browser
        keeps them for you, and deletes them when you sign out.
      </p>
    </Question>
  )
}
