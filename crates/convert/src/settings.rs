//! Options of several formats, found by type, so that a format can have options that no other crate knows.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

/// Options that can be stored in [`Settings`]: any type that can be cloned and shared.
pub trait Setting: Any + fmt::Debug + Send + Sync {
    /// A clone.
    fn copied(&self) -> Box<dyn Setting>;
}

impl<T: Any + Clone + fmt::Debug + Send + Sync> Setting for T {
    fn copied(&self) -> Box<dyn Setting> {
        Box::new(self.clone())
    }
}

/// At most one value of each type; a value that is not set is the default.
#[derive(Debug, Default)]
pub struct Settings(Vec<Box<dyn Setting>>);

impl Settings {
    /// The value of this type.
    pub fn get<T: Setting + Clone + Default>(&self) -> Cow<'_, T> {
        let found = self.0.iter().find_map(|setting| (setting.as_ref() as &dyn Any).downcast_ref::<T>());
        found.map_or_else(|| Cow::Owned(T::default()), Cow::Borrowed)
    }

    /// The value of this type, for changing it.
    pub fn get_mut<T: Setting + Clone + Default>(&mut self) -> &mut T {
        let mut settings = self.0.iter().map(|setting| setting.as_ref() as &dyn Any);
        let at = settings.position(|setting| setting.is::<T>()).unwrap_or_else(|| {
            self.0.push(Box::new(T::default()));
            self.0.len() - 1
        });
        match (self.0[at].as_mut() as &mut dyn Any).downcast_mut::<T>() {
            Some(found) => found,
            None => unreachable!("the value at this place has this type"),
        }
    }

    /// Sets the value of this type.
    pub fn set<T: Setting + Clone + Default>(&mut self, value: T) {
        *self.get_mut() = value;
    }
}

impl Clone for Settings {
    fn clone(&self) -> Self {
        Settings(self.0.iter().map(|setting| setting.as_ref().copied()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Settings;

    #[test]
    fn a_value_of_each_type_is_kept() {
        let mut settings = Settings::default();
        assert_eq!(*settings.get::<u8>(), 0);
        *settings.get_mut::<u8>() = 7;
        settings.set("seven".to_owned());
        let copy = settings.clone();
        *settings.get_mut::<u8>() = 8;
        assert_eq!((*copy.get::<u8>(), *settings.get::<u8>()), (7, 8));
        assert_eq!(*copy.get::<String>(), "seven");
        assert_eq!(*copy.get::<u16>(), 0);
    }
}
