"""What everything rests on: frozen values, checks of what users hand over, options, dispatch, documents."""
